// TrimPolicy: when the heap returns freed memory to the system. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "proto/base/clock.h"

namespace mpsd {

// After a burst of large messages the allocator would keep hundreds of megabytes. A trim needs all
// of these:
//
//   the daemon has been quiet     for kQuietNs, since a trim makes other threads' allocations wait
//   it is above the watermark     kWatermarkBytes more than the least that it has ever held
//   the last trim is long ago     kFirstPauseNs; twice as long after each trim that returned
//                                 little, up to kLastPauseNs: what is held is in use then
//
// A daemon that holds more for good is always above the watermark; its trims become rare. Owned by
// the HeapTrimmer. Thread-compatible.
//
// Invariant: at least kFirstPauseNs pass from one trim to the next.
class TrimPolicy {
 public:
  static constexpr uint64_t kWatermarkBytes = 32 << 20;
  static constexpr uint64_t kLittleBytes = kWatermarkBytes / 4;
  static constexpr int64_t kQuietNs = 3 * kNsPerSecond;
  static constexpr int64_t kFirstPauseNs = 10 * kNsPerSecond;
  static constexpr int64_t kLastPauseNs = 64 * kFirstPauseNs;

  // Held before the first request.
  explicit TrimPolicy(uint64_t resident_bytes) : least_bytes_(resident_bytes) {}

  // Whether to trim now. `inside` counts the daemon's requests.
  bool IsDue(uint64_t resident_bytes, int64_t inside, int64_t now_ns) {
    least_bytes_ = std::min(least_bytes_, resident_bytes);
    quiet_since_ns_ = inside > 0 ? INT64_MAX : std::min(quiet_since_ns_, now_ns);
    const bool quiet = inside == 0 && now_ns - quiet_since_ns_ >= kQuietNs;
    return quiet && resident_bytes - least_bytes_ >= kWatermarkBytes && now_ns >= next_ns_;
  }

  // After little was returned the next pause is longer; after more it is the first pause again.
  void Trimmed(uint64_t returned_bytes, int64_t now_ns) {
    const bool little = returned_bytes < kLittleBytes;
    pause_ns_ = little ? std::min(2 * pause_ns_, kLastPauseNs) : kFirstPauseNs;
    next_ns_ = now_ns + pause_ns_;
  }

 private:
  uint64_t least_bytes_;
  int64_t quiet_since_ns_ = INT64_MAX;  // all looks since then found nothing inside
  int64_t pause_ns_ = kFirstPauseNs;
  int64_t next_ns_ = INT64_MIN;
};

}  // namespace mpsd
