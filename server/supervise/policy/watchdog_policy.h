// Watchdog: when a worker that makes no progress is killed. Pure.
//
// A lane's heartbeat, written by the worker, counts only while the lane is idle; a busy lane must
// return batches. Loading and warming up have budgets: a beating thread says nothing about one that
// is stuck in a library.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "proto/base/check.h"
#include "proto/base/clock.h"
#include "server/pool/lanes/worker_progress.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// How often the supervisor looks at every worker.
inline constexpr int64_t kWatchdogTickNs = 250 * kNsPerMs;
// An idle lane's heart beats every second.
inline constexpr int64_t kIdleBudgetNs = 15 * kNsPerSecond;
// Then a worker is silent: see IsSilent().
inline constexpr int64_t kStoppedNs = 2 * kNsPerSecond;
inline constexpr int64_t kUnheardNs = 5 * kNsPerSecond;
inline constexpr int64_t kLeastRunBudgetNs = 30 * kNsPerSecond;
inline constexpr int64_t kRunBudgetFactor = 10;
inline constexpr uint64_t kLeastRunsMeasured = 20;

// A clock that stops while the front end does, which must not take its own absence for silent
// workers. In SuperviseServices. Thread-compatible: used on the supervisor's thread.
class OwnTime {
 public:
  // Called every tick or more often; a longer gap counts as two ticks.
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

// How long one lane has shown no progress. Thread-compatible.
class LaneWatch {
 public:
  explicit LaneWatch(int64_t own_ns) : since_ns_(own_ns) {}

  // Takes the lane's progress; returns how long there was none.
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

// Whether nobody should wait for a worker with such a lane: a SIGSTOP holds it, or an idle lane's
// heartbeat stands still. `stopped` is asked only after kStoppedNs.
template <typename Stopped>
bool IsSilent(int64_t silent_ns, bool is_idle, const Stopped& stopped) {
  if (is_idle && silent_ns > kUnheardNs) return true;
  return silent_ns > kStoppedNs && stopped();
}

// The ticks' view of a worker. Part of its WorkerLife. Thread-compatible.
struct ServiceWatch {
  // Returns why the worker must be killed. A lane with a batch has `run_budget_ns`.
  template <typename Stopped>
  std::optional<std::string> Look(const WorkerProgress& progress, int64_t run_budget_ns,
                                  int64_t own_ns, const Stopped& stopped) {
    MPSD_CHECK(progress.lanes.size() == lanes.size());
    answers = progress.requests > std::exchange(requests, progress.requests);
    is_silent = false;
    for (size_t lane = 0; lane < lanes.size(); ++lane) {
      const LaneProgress& seen = progress.lanes[lane];
      const int64_t silent_ns = lanes[lane].SilentNs(seen, own_ns);
      is_silent = is_silent || IsSilent(silent_ns, seen.inflight == 0, stopped);
      const int64_t budget_ns = seen.inflight > 0 ? run_budget_ns : kIdleBudgetNs;
      if (silent_ns <= budget_ns) continue;
      return absl::StrCat("lane ", lane, " made no progress for ",
                          absl::FormatDuration(absl::Nanoseconds(budget_ns)));
    }
    holds_requests_up = is_silent && progress.can_move && stopped();
    return std::nullopt;
  }

  std::vector<LaneWatch> lanes;
  uint64_t requests = 0;           // answered
  bool is_silent = false;          // one of its lanes is silent (IsSilent)
  bool holds_requests_up = false;  // stopped, with requests that could run elsewhere
  bool answers = false;            // it has answered a request between the last two looks
};

// An upper bound: the bucket's bound, or the last one if it lies above all. 0 with fewer than
// kLeastRunsMeasured observations.
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

// A batch's longest time from the last progress. `execute` counts all generations of the model.
// With `configured_ns` 0: ten times the 99th percentile, and at least half a minute, since a
// shape's first call may be a thousand times slower.
inline int64_t RunBudgetNs(int64_t configured_ns, const StageHistogram& execute) {
  if (configured_ns > 0) return configured_ns;
  const double seconds = Percentile99(execute.bounds(), execute.ReadSeconds());
  const auto measured_ns = static_cast<int64_t>(seconds * static_cast<double>(kNsPerSecond));
  return std::max(kLeastRunBudgetNs, kRunBudgetFactor * measured_ns);
}

}  // namespace mpsd
