// Sizes of output leases and of a worker's output area, from the model's spec and from experience.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>

#include "proto/link/model_spec.h"

namespace mpsd {

// A lane writes a batch's outputs into one extent of its worker's segment, leased before the batch
// is submitted. If the spec has known shapes, the size is exact. Otherwise OutputEstimate guesses.
// A worker whose outputs do not fit reports their size, and the batch runs again with a larger
// lease.
//
// Pure functions.

// Bytes of the outputs of `rows` rows, each output at the next multiple of 64. Nothing if the spec
// leaves an output's shape open.
std::optional<uint64_t> KnownOutputBytes(const ModelSpec& spec, uint32_t rows);

// First guess for the bytes of an output row of unknown shape.
inline constexpr uint64_t kAssumedOutputRowBytes = 16 << 10;

// How a worker's output area is divided.
struct OutputArea {
  uint64_t bytes = 0;
  uint64_t largest_lease_bytes = 0;
  uint64_t pin_limit_bytes = 0;  // for leases with answers that clients have not read yet
};

// kUsual: room for every batch that the lanes can have, and the same again for unread answers, at
// least kMinPinBytes. A lease has at most half of the area, so that one batch need not wait for all
// others.
//
// kLean: for a host without the memory for kUsual. The same if the largest answer fits. Otherwise
// one such answer at a time has the whole area, and so has each batch until the estimate has come
// down again. Unread answers are then copied, so that none blocks the next one.
enum class AreaKind { kUsual, kLean };

inline constexpr uint64_t kMinPinBytes = 4ULL << 20;

// A lease of the area can hold `largest_answer_bytes`, known from OutputEstimate if a shape is
// open.
OutputArea OutputAreaOf(AreaKind kind, const ModelSpec& spec, uint32_t lanes, uint32_t lane_depth,
                        uint64_t largest_answer_bytes);

// Sizes the output leases of models whose spec leaves a shape open. Owned by a pool.
// Thread-compatible: guarded by the pool's mutex. It grows at once, because too small a lease makes
// a batch run twice. It halves after kBatchesToShrink batches in a row used less than a quarter, so
// that one long answer does not size all later leases. Always a power of two, at least
// kAssumedOutputRowBytes.
//
// An answer larger than any lease of its worker is remembered. Workers that start later get an area
// for it, and WorkerGroup replaces workers whose area is too small.
class OutputEstimate {
 public:
  static constexpr uint32_t kBatchesToShrink = 64;

  uint64_t row_bytes() const { return row_bytes_; }

  // The outputs of a batch of `rows` rows did not fit: they need `bytes`. REQUIRES: rows > 0.
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

  // An answer of `bytes` is larger than any lease of its worker.
  void NoteTooLarge(uint64_t bytes) {
    largest_answer_bytes_ = std::max(largest_answer_bytes_, std::bit_ceil(bytes));
  }
  // There is no memory for a worker with such an area. None is wanted before `until_ns`.
  void ForgetTooLarge(int64_t until_ns) {
    largest_answer_bytes_ = 0;
    no_larger_until_ns_ = until_ns;
  }
  bool MayWantLarger(int64_t now_ns) const { return now_ns >= no_larger_until_ns_; }
  uint64_t largest_answer_bytes() const { return largest_answer_bytes_; }

 private:
  uint64_t row_bytes_ = kAssumedOutputRowBytes;
  uint64_t largest_answer_bytes_ = 0;  // largest answer that did not fit; a power of two, or 0
  int64_t no_larger_until_ns_ = INT64_MIN;
  uint32_t small_batches_ = 0;  // consecutive batches that used less than a quarter
};

}  // namespace mpsd
