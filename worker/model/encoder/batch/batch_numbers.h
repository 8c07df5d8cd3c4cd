// batch_numbers: a token batch as one copy takes it to a device.
//
//   ids | positions | types | first | last | place | starts
//    a number a token each     a number a row each    where each row starts, and the last one ends
//
// A recorded run has room for more tokens and rows than a batch has. Tokens beyond the batch's
// belong to no row, and rows beyond have no token.
#pragma once

#include <cstdint>
#include <vector>

#include "worker/model/encoder/batch/token_batch.h"

namespace mpsd {

// Plain data.
struct BatchRoom {
  int64_t tokens = 0;
  int64_t rows = 0;

  // Takes `size` numbers in all.
  static BatchRoom Of(int64_t size, int64_t rows) { return {(size - 4 * rows - 1) / 3, rows}; }

  int64_t size() const { return 3 * tokens + 4 * rows + 1; }
  bool Holds(const TokenBatch& batch) const {
    return batch.size() <= tokens && static_cast<int64_t>(batch.rows.size()) <= rows;
  }
};

// `first` and `last` are token indices, in the request's order. `place` is the row's index in token
// order, which is also the order of `starts`. REQUIRES: the room holds the batch. Pure.
std::vector<int64_t> NumbersOf(const TokenBatch& batch, const BatchRoom& room);

}  // namespace mpsd
