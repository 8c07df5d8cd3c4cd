// Sizes of output leases and of a worker's output area.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>

#include "proto/link/model_spec.h"

namespace mpsd {

// Pure functions. If the spec has known shapes, the size of a lease is exact. Otherwise
// OutputEstimate guesses; a batch whose outputs do not fit runs again with a larger lease.

// Each output begins at a multiple of 64. Nothing if the spec leaves an output's shape open.
std::optional<uint64_t> KnownOutputBytes(const ModelSpec& spec, uint32_t rows);

// The first guess for an output row of unknown shape.
inline constexpr uint64_t kAssumedOutputRowBytes = 16 << 10;

// A usual area has room for a lease of this size for each batch that the lanes can have.
uint64_t LaneLeaseBytes(const ModelSpec& spec);

struct OutputArea {
  uint64_t bytes = 0;
  uint64_t largest_lease_bytes = 0;
  uint64_t pin_limit_bytes = 0;  // for leases with unread answers
};

// kUsual: room for every batch that the lanes can have, and the same again for unread answers, at
// least kMinPinBytes. A lease has at most half of the area, so that one batch need not wait for all
// others.
//
// kLean, for a host without the memory for kUsual: the same if the largest answer fits. Otherwise
// one such answer at a time has the whole area, and unread answers are copied.
enum class AreaKind { kUsual, kLean };

inline constexpr uint64_t kMinPinBytes = 4ULL << 20;

// A lease of the area can hold `largest_answer_bytes`.
OutputArea OutputAreaOf(AreaKind kind, const ModelSpec& spec, uint32_t lanes, uint32_t lane_depth,
                        uint64_t largest_answer_bytes);

// For models whose spec leaves a shape open. Thread-compatible: its pool's mutex guards it. It
// grows at once, because too small a lease makes a batch run twice. It halves after
// kBatchesToShrink batches in a row used less than a quarter. Always a power of two, at least
// kAssumedOutputRowBytes.
class OutputEstimate {
 public:
  static constexpr uint32_t kBatchesToShrink = 64;

  uint64_t row_bytes() const { return row_bytes_; }

  // The outputs of so many rows need `bytes`. REQUIRES: rows > 0.
  void Grow(uint64_t bytes, uint32_t rows) {
    row_bytes_ = std::max(row_bytes_, std::bit_ceil((bytes + rows - 1) / rows));
    small_batches_ = 0;
  }

  void Use(uint64_t bytes, uint32_t rows) {
    small_batches_ = bytes < rows * row_bytes_ / 4 ? small_batches_ + 1 : 0;
    if (small_batches_ < kBatchesToShrink) return;
    row_bytes_ = std::max(row_bytes_ / 2, kAssumedOutputRowBytes);
    small_batches_ = 0;
  }

  // The answer fits no lease of its worker. WorkerGroup then replaces the worker by a larger one.
  void NoteTooLarge(uint64_t bytes) {
    largest_answer_bytes_ = std::max(largest_answer_bytes_, std::bit_ceil(bytes));
  }
  // There is no memory for a larger worker: none is wanted before `until_ns`.
  void ForgetTooLarge(int64_t until_ns) {
    largest_answer_bytes_ = 0;
    no_larger_until_ns_ = until_ns;
  }
  bool MayWantLarger(int64_t now_ns) const { return now_ns >= no_larger_until_ns_; }
  uint64_t largest_answer_bytes() const { return largest_answer_bytes_; }

 private:
  uint64_t row_bytes_ = kAssumedOutputRowBytes;
  uint64_t largest_answer_bytes_ = 0;  // largest that did not fit; a power of two, or 0
  int64_t no_larger_until_ns_ = INT64_MIN;
  uint32_t small_batches_ = 0;  // consecutive ones that used less than a quarter
};

}  // namespace mpsd
