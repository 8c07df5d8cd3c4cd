// PressureRelief: replaces a worker because the host is short of memory. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "proto/base/clock.h"
#include "proto/base/memory_pressure.h"

namespace mpsd {

// Workers first give back unused memory (worker/consume/upkeep_policy.h). Memory that a library or
// a leak holds returns only with the process. After kPatienceNs of shortage a worker is replaced
// that has grown since it began to serve:
//
//   by half of what it had then    so that the host gains, for the time that two are there
//   and by kLeastGrowthBytes       so that a small worker is left alone
//
// One worker of all models every kPauseNs, since the fresh one beside it takes memory too. In
// SuperviseServices. Thread-compatible: used on the supervisor's thread.
class PressureRelief {
 public:
  static constexpr int64_t kPatienceNs = 10 * kNsPerSecond;
  static constexpr int64_t kPauseNs = 30 * kNsPerSecond;
  static constexpr uint64_t kLeastGrowthBytes = 256 << 20;

  void Note(MemoryPressure pressure, int64_t now_ns) {
    if (pressure == MemoryPressure::kCritical && pressure_ != pressure) critical_since_ns_ = now_ns;
    pressure_ = pressure;
  }
  MemoryPressure pressure() const { return pressure_; }

  // Whether a worker that has grown may be replaced.
  bool IsDue(int64_t now_ns) const {
    return pressure_ == MemoryPressure::kCritical && now_ns - critical_since_ns_ >= kPatienceNs &&
           now_ns >= next_ns_;
  }

  // A worker is being replaced, or there was no memory for that.
  void Tried(int64_t now_ns) { next_ns_ = now_ns + kPauseNs; }

  // Whether the worker has grown so much since it began to serve with `fresh_bytes`. False if
  // either size is unknown.
  static bool HasGrown(uint64_t fresh_bytes, uint64_t resident_bytes) {
    const uint64_t growth_bytes = std::max(fresh_bytes / 2, kLeastGrowthBytes);
    return fresh_bytes > 0 && resident_bytes >= fresh_bytes + growth_bytes;
  }

 private:
  MemoryPressure pressure_ = MemoryPressure::kNone;
  int64_t critical_since_ns_ = 0;
  int64_t next_ns_ = INT64_MIN;
};

}  // namespace mpsd
