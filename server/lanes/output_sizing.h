// How large output leases and a worker's output area are: by the model's spec, and by experience.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>

#include "proto/link/model_spec.h"

namespace mpsd {

// A lane writes the outputs of a batch into one extent of its worker's segment, which the front end
// leases before the batch is submitted: so it has to know the size beforehand. A spec with known
// shapes says it exactly. Where a shape is open, OutputEstimate guesses; a worker whose outputs do
// not fit says how much they need, and the batch runs again with a lease of that size.
//
// The functions are pure.

// Bytes of the outputs of `rows` rows, each output at the next multiple of 64. Nothing when the
// spec leaves an output's shape open.
std::optional<uint64_t> KnownOutputBytes(const ModelSpec& spec, uint32_t rows);

// The bytes that an output row of unknown shape is first assumed to take.
inline constexpr uint64_t kAssumedOutputRowBytes = 16 << 10;

// How a worker's output area is used.
struct OutputArea {
  uint64_t bytes = 0;
  uint64_t largest_lease_bytes = 0;
  uint64_t pin_limit_bytes = 0;  // of leases in which answers lie that clients have not read yet
};

// kUsual: room for every batch that the lanes can have, and as much again, at least kMinPinBytes,
// for unread answers. A lease has at most half of the area, so that one batch does not wait for all
// others.
//
// kLean: the same where the largest answer fits so. Otherwise, for a host that lacks the memory,
// one such answer at a time has the whole area, and so has each batch until the estimate has come
// down again; unread answers are copied, so that none keeps the next one waiting.
enum class AreaKind { kUsual, kLean };

inline constexpr uint64_t kMinPinBytes = 4ULL << 20;

// A lease of the area holds `largest_answer_bytes`, which OutputEstimate knows where a shape is
// open.
OutputArea OutputAreaOf(AreaKind kind, const ModelSpec& spec, uint32_t lanes, uint32_t lane_depth,
                        uint64_t largest_answer_bytes);

// Sizes the output leases of models whose spec leaves a shape open. Owned by a pool.
// Thread-compatible: guarded by the pool's mutex. It grows at once, since too small a lease makes a
// batch run twice. It halves after kBatchesToShrink batches in a row that each used less than a
// quarter of it, so that one long answer does not size all later leases. Always a power of two,
// never below kAssumedOutputRowBytes.
//
// An answer that no lease of a worker can hold is remembered: workers that start later get an area
// for it, and WorkerGroup replaces those whose area is too small.
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

  // An answer of `bytes` is larger than the largest lease of its worker.
  void NoteTooLarge(uint64_t bytes) {
    largest_answer_bytes_ = std::max(largest_answer_bytes_, std::bit_ceil(bytes));
  }
  // There is no memory for a worker with such an area, and none is wanted before `until_ns`.
  void ForgetTooLarge(int64_t until_ns) {
    largest_answer_bytes_ = 0;
    no_larger_until_ns_ = until_ns;
  }
  // Whether a worker with a larger area may be wanted.
  bool MayWantLarger(int64_t now_ns) const { return now_ns >= no_larger_until_ns_; }
  uint64_t largest_answer_bytes() const { return largest_answer_bytes_; }

 private:
  uint64_t row_bytes_ = kAssumedOutputRowBytes;
  uint64_t largest_answer_bytes_ = 0;  // of those that were too large; a power of two, or 0
  int64_t no_larger_until_ns_ = INT64_MIN;
  uint32_t small_batches_ = 0;  // since one that was not
};

}  // namespace mpsd
