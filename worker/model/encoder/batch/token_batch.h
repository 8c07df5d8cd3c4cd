// TokenBatch: the tokens of a batch's rows, without their padding.
//
// Requests come as rows of one length, with a mask that says which tokens count. An encoder's maps
// work token by token, so padding costs as much as text. Here the counting tokens are put one after
// another. Rows of equal length lie together, so that one call computes the attention of all rows
// of a run:
//
//   ids            mask            packed: ids           runs
//   [ 7 8 9 0 0 ]  [ 1 1 1 0 0 ]   [ 5 6 | 7 8 9 | 3 4 2 ]   1 row of 2, 2 rows of 3
//   [ 5 6 0 0 0 ]  [ 1 1 0 0 0 ]     row 1  row 0   row 2
//   [ 3 4 2 0 0 ]  [ 1 1 1 0 0 ]
//
// Pure: knows no libtorch, so it is tested without one.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "worker/model/encoder/config/encoder_config.h"

namespace mpsd {

// kPacked: as above. kPadded: all tokens of all rows, for devices that compile a program for each
// shape, or lack a kernel for rows of many lengths. Then `kept` says which tokens count. Counting
// tokens come first in their row, in their order.
enum class TokenLayout { kPacked, kPadded };

// A request's inputs: `rows` rows of `length` tokens each. `types` may be null: all are 0. Borrows.
struct TokenInputs {
  int64_t rows = 0;
  int64_t length = 0;
  const int64_t* ids = nullptr;
  const int64_t* mask = nullptr;  // a token counts unless its number is 0
  const int64_t* types = nullptr;
};

// The counting tokens of one row: in the order of the batch, from `first` to `last`, both included.
struct TokenRow {
  int64_t first = 0;
  int64_t last = 0;
  bool is_empty = false;  // no token counts; the row then holds one, because no row may have none
};

// Rows of one length that lie one after another.
struct TokenRun {
  int64_t first = 0;  // index of the first token
  int64_t rows = 0;
  int64_t length = 0;
};

// Plain data, made for one run of a model.
struct TokenBatch {
  std::vector<int64_t> ids;
  std::vector<int64_t> positions;
  std::vector<int64_t> types;  // empty: all are 0
  std::vector<char> kept;      // kPadded: whether the token counts; kPacked: empty
  std::vector<TokenRow> rows;  // in the request's order
  std::vector<TokenRun> runs;  // in the order of the tokens
  // Rows that failed, with the reason for clients. They are empty in the batch.
  std::vector<std::pair<uint32_t, std::string>> failed_rows;

  int64_t size() const { return static_cast<int64_t>(ids.size()); }
};

// A row fails if its ids or types are outside the encoder's tables, or it has more tokens than the
// encoder has positions. A row also fails if its mask has a hole and the family needs distances, or
// leaves out a word before others and the family counts words. Other rows are unaffected. Pure.
TokenBatch PackTokens(const EncoderConfig& config, const TokenInputs& inputs, TokenLayout layout);

}  // namespace mpsd
