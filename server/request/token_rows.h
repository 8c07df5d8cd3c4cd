// TokenRows: the rows of tokens that the texts of a request became.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "server/request/infer_message.h"

namespace mpsd {

class TextEncoder;

// A request with texts is checked, padded and copied like one with tensors: its texts are replaced
// by the tensors of tokens that the model takes, and admission reads `message` instead of what the
// client sent.
//
//   sent       text BYTES[2,1]
//   message    input_ids INT64[2,9]  attention_mask INT64[2,9]  token_type_ids INT64[2,9]
//
// Made by a TextEncoder, owned by the Request from then on, dropped once the rows are copied.
// Neither moved nor copied: the message has views of the other members. Thread-compatible.
struct TokenRows {
  TokenRows() = default;
  TokenRows(const TokenRows&) = delete;
  TokenRows& operator=(const TokenRows&) = delete;

  InferMessage message;  // as sent, with the tensors of tokens in place of the texts
  std::shared_ptr<const TextEncoder> encoder;  // of the generation whose tokens these are

  // What a client pays for: tokens of the texts as they run, special ones included, and without
  // the padding of the shorter rows.
  uint64_t token_count = 0;
  uint64_t truncated_texts = 0;  // texts of which something was cut

  // Equal texts are one row. For each text its row; empty: text i is row i.
  std::vector<uint32_t> row_of_text;

  // What the message's views point into.
  std::vector<int64_t> dims;         // of each tensor
  std::vector<std::string> tensors;  // the bytes of each
};

}  // namespace mpsd
