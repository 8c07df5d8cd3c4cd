// When a worker that makes no progress is to be killed. Pure.
//
// A front end that was stopped, or whose host slept, must not take its own absence for the workers'
// silence: all budgets are counted in OwnTime, which goes on only while the front end looks. What
// a worker writes is used for idle lanes alone. While it has a batch, what counts is that batches
// come back, which the front end knows by itself and no worker can pretend.
//
// There is no heartbeat while a worker loads or warms up: a thread that beats beside the one that
// is stuck in a library says nothing about it. Those phases have budgets.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "proto/base/clock.h"
#include "server/dispatch/worker_progress.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

inline constexpr int64_t kWatchdogTickNs = 250 * kNsPerMs;
// An idle lane wakes up every second to say that it is there.
inline constexpr int64_t kIdleBudgetNs = 15 * kNsPerSecond;
inline constexpr int64_t kLeastRunBudgetNs = 30 * kNsPerSecond;
inline constexpr int64_t kRunBudgetFactor = 10;
inline constexpr uint64_t kLeastRunsMeasured = 20;

// The time that the front end has been there. Thread-compatible.
class OwnTime {
 public:
  // Called every tick or more often; a longer gap counts for no more than two ticks.
  void Advance(int64_t clock_ns) {
    if (last_clock_ns_ != 0) {
      now_ns_ += std::clamp<int64_t>(clock_ns - last_clock_ns_, 0, 2 * kWatchdogTickNs);
    }
    last_clock_ns_ = clock_ns;
  }

  int64_t now_ns() const { return now_ns_; }

 private:
  int64_t now_ns_ = 0;
  int64_t last_clock_ns_ = 0;
};

// Follows one lane. Thread-compatible.
class LaneWatch {
 public:
  explicit LaneWatch(int64_t own_ns) : since_ns_(own_ns) {}

  // How long the lane has shown no progress.
  int64_t SilentNs(const LaneProgress& sight, int64_t own_ns) {
    const bool idle = sight.inflight == 0;
    const bool progress = sight.completed != last_.completed || idle != (last_.inflight == 0) ||
                          (idle && sight.heartbeat != last_.heartbeat);
    if (progress) since_ns_ = own_ns;
    last_ = sight;
    return own_ns - since_ns_;
  }

 private:
  int64_t since_ns_;
  LaneProgress last_;
};

// The bound of the bucket below which 99 of 100 observations lie; 0 when there are too few.
template <size_t kBounds>
double Percentile99(const std::array<double, kBounds>& bounds,
                    const typename AtomicHistogram<kBounds>::Snapshot& snapshot) {
  uint64_t total = 0;
  for (const uint64_t count : snapshot.counts) total += count;
  if (total < kLeastRunsMeasured) return 0;
  uint64_t below = 0;
  for (size_t i = 0; i < kBounds; ++i) {
    below += snapshot.counts[i];
    if (below * 100 >= total * 99) return bounds[i];
  }
  return bounds[kBounds - 1];
}

// What a batch may take. `configured_ns` 0: ten times what all but the slowest have taken, and not
// less than half a minute, since the first call of a shape may be a thousand times slower.
inline int64_t RunBudgetNs(int64_t configured_ns, const StageHistogram& execute) {
  if (configured_ns > 0) return configured_ns;
  const double seconds = Percentile99(execute.bounds(), execute.ReadSeconds());
  const auto measured_ns = static_cast<int64_t>(seconds * static_cast<double>(kNsPerSecond));
  return std::max(kLeastRunBudgetNs, kRunBudgetFactor * measured_ns);
}

}  // namespace mpsd
