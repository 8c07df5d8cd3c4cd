// TrimPolicy: when the heap returns freed memory to the system. Pure.
//
// An allocator keeps freed memory for the next allocation, which suits a busy server. But after a
// burst of large messages it would keep hundreds of megabytes for good. So the heap is trimmed once
// all of these hold:
//
//   the daemon has been quiet     for kQuietNs, since a trim makes other threads' allocations wait
//   it is above the watermark     kWatermarkBytes more than the least that it has ever held
//   the last trim is long ago     kFirstPauseNs; twice as long after each trim that returned
//                                 little, up to kLastPauseNs: what is held is in use then
//
// A daemon that is never quiet uses its memory again and again, and keeps it. The policy learns the
// least: a daemon that loads a large table for good is above the watermark from then on. Its trims,
// which return little, become rare.
#pragma once

#include <algorithm>
#include <cstdint>

#include "proto/base/clock.h"

namespace mpsd {

// Owned by the HeapTrimmer, which asks at each look. Thread-compatible.
//
// Invariant: at least kFirstPauseNs pass from one trim to the next.
class TrimPolicy {
 public:
  static constexpr uint64_t kWatermarkBytes = 32 << 20;
  static constexpr uint64_t kLittleBytes = kWatermarkBytes / 4;
  static constexpr int64_t kQuietNs = 3 * kNsPerSecond;
  static constexpr int64_t kFirstPauseNs = 10 * kNsPerSecond;
  static constexpr int64_t kLastPauseNs = 64 * kFirstPauseNs;

  // `resident_bytes` is what the daemon holds before its first request.
  explicit TrimPolicy(uint64_t resident_bytes) : least_bytes_(resident_bytes) {}

  // Notes a look, and says whether to trim now. The daemon has `inside` requests.
  bool IsDue(uint64_t resident_bytes, int64_t inside, int64_t now_ns) {
    least_bytes_ = std::min(least_bytes_, resident_bytes);
    quiet_since_ns_ = inside > 0 ? INT64_MAX : std::min(quiet_since_ns_, now_ns);
    const bool quiet = inside == 0 && now_ns - quiet_since_ns_ >= kQuietNs;
    return quiet && resident_bytes - least_bytes_ >= kWatermarkBytes && now_ns >= next_ns_;
  }

  // The heap was trimmed, and returned so much. After a little the next pause is longer; after more
  // it is the first pause again.
  void Trimmed(uint64_t returned_bytes, int64_t now_ns) {
    const bool little = returned_bytes < kLittleBytes;
    pause_ns_ = little ? std::min(2 * pause_ns_, kLastPauseNs) : kFirstPauseNs;
    next_ns_ = now_ns + pause_ns_;
  }

 private:
  uint64_t least_bytes_;
  int64_t quiet_since_ns_ = INT64_MAX;  // since when all looks found nothing inside
  int64_t pause_ns_ = kFirstPauseNs;
  int64_t next_ns_ = INT64_MIN;
};

}  // namespace mpsd
