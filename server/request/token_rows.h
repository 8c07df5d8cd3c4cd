// TokenRows: a request's texts as rows of tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "server/request/infer_message.h"

namespace mpsd {

class TextEncoder;

// A request with texts is checked, padded and copied like one with tensors. Its texts are replaced
// by the model's tensors of tokens, and admission reads `message` instead of the client's message.
//
//   sent       text BYTES[2,1]
//   message    input_ids INT64[2,9]  attention_mask INT64[2,9]  token_type_ids INT64[2,9]
//
// Made by a TextEncoder, then owned by the Request, dropped once the rows are copied. Neither moved
// nor copied: the message has views of the other members. Thread-compatible.
struct TokenRows {
  TokenRows() = default;
  TokenRows(const TokenRows&) = delete;
  TokenRows& operator=(const TokenRows&) = delete;

  InferMessage message;  // as sent, with tensors of tokens instead of the texts
  std::shared_ptr<const TextEncoder> encoder;  // encoder of the generation that made the tokens

  // A client's usage: tokens of the texts as they run, with special ones and without the padding of
  // shorter rows.
  uint64_t token_count = 0;
  uint64_t truncated_texts = 0;  // texts that lost tokens

  // Equal texts are one row. For each text its row; empty: text i is row i.
  std::vector<uint32_t> row_of_text;

  // Targets of the message's views.
  std::vector<int64_t> dims;         // by tensor
  std::vector<std::string> tensors;  // bytes by tensor
};

}  // namespace mpsd
