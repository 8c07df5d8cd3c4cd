// UpkeepPolicy: when a lane, between batches, runs its model or trims its memory. Pure.
//
// The model runs when `keep_warm_ns` have passed without a run. A trim gives memory that the
// library keeps unused back to the system:
//
//   pressure    when                                                       least unused memory
//   none        no batch for kQuietNs                                      kWatermarkBytes
//   warn        the lane is idle                                           anything
//   critical    the lane is idle, or a batch has just ended                anything
//
// A trim is followed by a pause. The pause doubles after each trim that returned little: the kept
// memory is in use then. Rising pressure ends the pause.
#pragma once

#include <algorithm>
#include <cstdint>

#include "proto/base/clock.h"
#include "proto/base/memory_pressure.h"

namespace mpsd {

// Thread-compatible.
class UpkeepPolicy {
 public:
  static constexpr uint64_t kWatermarkBytes = 256 << 20;
  static constexpr uint64_t kLittleBytes = 32 << 20;
  static constexpr int64_t kQuietNs = 5 * kNsPerSecond;
  static constexpr int64_t kFirstPauseNs = 10 * kNsPerSecond;
  static constexpr int64_t kLastPauseNs = 64 * kFirstPauseNs;

  struct Sight {
    MemoryPressure pressure = MemoryPressure::kNone;
    bool after_batch = false;
    uint64_t unused_bytes = 0;
  };

  // `keep_warm_ns` 0: the model is not kept warm.
  UpkeepPolicy(int64_t keep_warm_ns, int64_t now_ns)
      : keep_warm_ns_(keep_warm_ns), batch_ended_ns_(now_ns), ran_ns_(now_ns) {}

  void BatchEnded(int64_t now_ns) { batch_ended_ns_ = ran_ns_ = now_ns; }

  void Ran(int64_t now_ns) { ran_ns_ = now_ns; }

  void StopRuns() { keep_warm_ns_ = 0; }

  bool IsRunDue(int64_t now_ns) const {
    return keep_warm_ns_ > 0 && now_ns - ran_ns_ >= keep_warm_ns_;
  }

  bool IsTrimDue(const Sight& sight, int64_t now_ns) {
    if (sight.pressure > pressure_) {
      next_trim_ns_ = now_ns;
      pause_ns_ = kFirstPauseNs;
    }
    pressure_ = sight.pressure;
    if (now_ns < next_trim_ns_) return false;
    switch (sight.pressure) {
      case MemoryPressure::kNone:
        return !sight.after_batch && now_ns - batch_ended_ns_ >= kQuietNs &&
               sight.unused_bytes >= kWatermarkBytes;
      case MemoryPressure::kWarn:
        return !sight.after_batch && sight.unused_bytes > 0;
      case MemoryPressure::kCritical:
        return sight.unused_bytes > 0;
    }
    return false;
  }

  void Trimmed(uint64_t returned_bytes, int64_t now_ns) {
    const bool little = returned_bytes < kLittleBytes;
    next_trim_ns_ = now_ns + (little ? pause_ns_ : kFirstPauseNs);
    pause_ns_ = little ? std::min(2 * pause_ns_, kLastPauseNs) : kFirstPauseNs;
  }

 private:
  int64_t keep_warm_ns_;
  int64_t batch_ended_ns_;
  int64_t ran_ns_;
  MemoryPressure pressure_ = MemoryPressure::kNone;  // the last one seen
  int64_t pause_ns_ = kFirstPauseNs;
  int64_t next_trim_ns_ = INT64_MIN;
};

}  // namespace mpsd
