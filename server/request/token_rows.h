// TokenRows: texts as rows of tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "server/request/infer_message.h"

namespace mpsd {

class TextEncoder;

// Admission reads `message` instead of the client's, in which texts stand:
//
//   sent       text BYTES[2,1]
//   message    input_ids INT64[2,9]  attention_mask INT64[2,9]  token_type_ids INT64[2,9]
//
// Made by a TextEncoder, owned by the Request, dropped once the rows are copied. Not movable: the
// message has views of the other members. Thread-compatible.
struct TokenRows {
  TokenRows() = default;
  TokenRows(const TokenRows&) = delete;
  TokenRows& operator=(const TokenRows&) = delete;

  InferMessage message;                        // tensors of tokens instead of the texts
  std::shared_ptr<const TextEncoder> encoder;  // made the tokens

  // A client's usage: with special tokens, without padding.
  uint64_t token_count = 0;
  uint64_t truncated_texts = 0;  // texts that lost tokens

  // Equal texts share a row. Empty: text i is row i.
  std::vector<uint32_t> row_of_text;

  std::vector<int64_t> dims;         // by tensor
  std::vector<std::string> tensors;  // by tensor
};

}  // namespace mpsd
