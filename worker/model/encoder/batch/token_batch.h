// TokenBatch: the tokens of a batch's rows, without their padding.
//
// Maps work token by token, so padding would cost as much as text. Rows of equal length form a run,
// whose attention one call computes:
//
//   ids            mask            packed: ids           runs
//   [ 7 8 9 0 0 ]  [ 1 1 1 0 0 ]   [ 5 6 | 7 8 9 | 3 4 2 ]   1 row of 2, 2 rows of 3
//   [ 5 6 0 0 0 ]  [ 1 1 0 0 0 ]     row 1  row 0   row 2
//   [ 3 4 2 0 0 ]  [ 1 1 1 0 0 ]
//
// Knows no libtorch.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "worker/model/encoder/config/encoder_config.h"

namespace mpsd {

// kPacked: as above. kPadded: all tokens of all rows, for devices that compile a program for each
// shape, or lack a kernel for rows of many lengths. Counting tokens come first in their row.
enum class TokenLayout { kPacked, kPadded };

// `types` may be null: all are 0. Borrows.
struct TokenInputs {
  int64_t rows = 0;
  int64_t length = 0;
  const int64_t* ids = nullptr;
  const int64_t* mask = nullptr;  // 0: the token does not count
  const int64_t* types = nullptr;
};

// Indices of a row's counting tokens in the batch, both included.
struct TokenRow {
  int64_t first = 0;
  int64_t last = 0;
  bool is_empty = false;  // no token counts; the row still holds one
};

// Adjacent rows of one length.
struct TokenRun {
  int64_t first = 0;  // index of the first token
  int64_t rows = 0;
  int64_t length = 0;
};

// Plain data.
struct TokenBatch {
  std::vector<int64_t> ids;
  std::vector<int64_t> positions;
  std::vector<int64_t> types;  // empty: all are 0
  std::vector<char> kept;      // kPadded: whether a token counts; kPacked: empty
  std::vector<TokenRow> rows;  // in the request's order
  std::vector<TokenRun> runs;  // in token order
  // The reasons are for clients. These rows are empty in the batch.
  std::vector<std::pair<uint32_t, std::string>> failed_rows;

  int64_t size() const { return static_cast<int64_t>(ids.size()); }
};

// A row fails alone if its ids or types are outside the tables, or it has more tokens than
// positions. A mask with a hole fails the row if the family needs distances, or if a hole is a word
// and the family counts words. Pure.
TokenBatch PackTokens(const EncoderConfig& config, const TokenInputs& inputs, TokenLayout layout);

}  // namespace mpsd
