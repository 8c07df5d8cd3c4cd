// OutputRows: how many rows of a line share a batch, so that their outputs fit a lease.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "proto/base/limits.h"

namespace mpsd {

// A batch whose outputs exceed the largest lease is computed in vain. So the next ones have as many
// rows as should fit, by the mean of that batch. One row with long outputs among many takes little
// away. The limit doubles after kBatchesToGrow batches in a row that left room for twice as many.
// Any number of rows until outputs did not fit. Thread-compatible: its pool's mutex guards it.
class OutputRows {
 public:
  static constexpr uint32_t kAnyRows = std::numeric_limits<uint32_t>::max();
  static constexpr uint32_t kBatchesToGrow = 16;

  uint32_t most() const { return most_; }

  // The outputs of a batch take `bytes`, by the worker's word if they did not fit. A lease has at
  // most `most_bytes`. REQUIRES: rows > 0.
  void Note(uint32_t rows, uint64_t bytes, uint64_t most_bytes) {
    const double row_bytes = static_cast<double>(bytes) / rows;
    const auto room = static_cast<double>(most_bytes);
    if (bytes > most_bytes && rows > 1) {
      most_ = std::clamp(static_cast<uint32_t>(room / row_bytes), 1U, rows - 1);
      small_batches_ = 0;
    } else if (most_ != kAnyRows) {
      small_batches_ = 2.0 * most_ * row_bytes <= room ? small_batches_ + 1 : 0;
      if (small_batches_ == kBatchesToGrow) Grow();
    }
  }

 private:
  void Grow() {
    most_ = most_ > kMaxBatchRows / 2 ? kAnyRows : 2 * most_;
    small_batches_ = 0;
  }

  uint32_t most_ = kAnyRows;
  uint32_t small_batches_ = 0;
};

}  // namespace mpsd
