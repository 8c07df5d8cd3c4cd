// batch_numbers: the numbers of a token batch one after another, as one copy takes them to a
// device.
//
//   ids | positions | types | first | last | place | starts
//    a number a token each     a number a row each    where each row starts, and the last one ends
//
// A recorded run has room for more tokens and rows than a batch has. Tokens beyond the batch's
// belong to no row, and rows beyond have no token, so their results reach no answer.
//
// Pure: knows no libtorch.
#pragma once

#include <cstdint>
#include <vector>

#include "worker/model/encoder/batch/token_batch.h"

namespace mpsd {

// A number of tokens and of rows. Plain data.
struct BatchRoom {
  int64_t tokens = 0;
  int64_t rows = 0;

  // The room that takes `size` numbers in all.
  static BatchRoom Of(int64_t size, int64_t rows) { return {(size - 4 * rows - 1) / 3, rows}; }

  int64_t size() const { return 3 * tokens + 4 * rows + 1; }
  bool Holds(const TokenBatch& batch) const {
    return batch.size() <= tokens && static_cast<int64_t>(batch.rows.size()) <= rows;
  }
};

// The numbers `first` and `last` are the indices of a row's tokens, in the request's order. The
// number `place` is the row's index in the order of the tokens, which is also the order of
// `starts`. REQUIRES: the room holds the batch. Pure.
std::vector<int64_t> NumbersOf(const TokenBatch& batch, const BatchRoom& room);

}  // namespace mpsd
