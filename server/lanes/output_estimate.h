// OutputEstimate: how many bytes a row of outputs of unknown shape is assumed to take.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "server/lanes/output_sizing.h"

namespace mpsd {

// Sizes the output leases of models whose spec leaves a shape open. Owned by a pool.
// Thread-compatible: guarded by the pool's mutex. It grows at once, since too small a lease makes a
// batch run twice. It halves after kBatchesToShrink batches in a row that each used less than a
// quarter of it, so that one long answer does not size all later leases. Always a power of two,
// never below kAssumedOutputRowBytes.
class OutputEstimate {
 public:
  static constexpr uint32_t kBatchesToShrink = 64;

  uint64_t row_bytes() const { return row_bytes_; }

  // The outputs of a batch of `rows` rows did not fit: they need `bytes`. REQUIRES: rows > 0.
  void Grow(uint64_t bytes, uint32_t rows) {
    row_bytes_ = std::max(row_bytes_, std::bit_ceil((bytes + rows - 1) / rows));
    small_batches_ = 0;
  }

  // The outputs of a batch of `rows` rows took `bytes`.
  void Use(uint64_t bytes, uint32_t rows) {
    small_batches_ = bytes < rows * row_bytes_ / 4 ? small_batches_ + 1 : 0;
    if (small_batches_ < kBatchesToShrink) return;
    row_bytes_ = std::max(row_bytes_ / 2, kAssumedOutputRowBytes);
    small_batches_ = 0;
  }

 private:
  uint64_t row_bytes_ = kAssumedOutputRowBytes;
  uint32_t small_batches_ = 0;  // since one that was not
};

}  // namespace mpsd
