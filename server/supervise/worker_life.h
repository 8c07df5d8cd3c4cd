// WorkerLife: the state of a configured worker, and what each event makes of it. Pure.
//
//             spawn            LoadReport            Ready, all mapped
//   kWaiting ─────────▶ kLoading ─────────▶ kWarming ─────────────────▶ kServing ───▶ kDraining
//      ▲                   │                   │                           │              │
//      │ reaped            ├───────────────────┴───────────────────────────┴──────────────┘
//      │                   ▼  killed, asked to go, hung up, said a Failure, or gone
//      └─────────────── kEnding
//
// After a death the worker waits for its next incarnation, or for good (failed()).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "proto/base/backoff_policy.h"
#include "proto/base/check.h"
#include "proto/link/messages.h"
#include "server/request/supervision_limits.h"
#include "server/supervise/policy/watchdog_policy.h"
#include "server/supervise/process/exit_reason.h"

namespace mpsd {

enum class WorkerState {
  kWaiting,   // no process
  kLoading,   // the process loads the model
  kWarming,   // it warms up its lanes
  kServing,   // the pool sends it batches
  kDraining,  // it finishes its batches
  kEnding,    // killed, asked to go, hung up, or gone and not reaped yet
};

// For `mpsd ps` and the log.
constexpr const char* WorkerStateName(WorkerState state) {
  constexpr const char* kNames[] = {"waiting to start", "loading",  "warming up",
                                    "serving",          "draining", "ending"};
  return kNames[static_cast<int>(state)];
}

// How far a process in kLoading is.
enum class LoadStep {
  kLoads,     // it loads the model
  kReported,  // it has sent its LoadReport
  kWaits,     // it waits for weights that another worker may share
  kAsked,     // it was asked to share its weights, or to use shared ones
};

struct LifeTime {
  int64_t now_ns = 0;  // by the clock
  int64_t own_ns = 0;  // in OwnTime
};

// The work that an event leaves to the SupervisedWorker, in this order.
struct LifeActions {
  bool quiesce = false;                // the pool sends the worker no more batches
  bool kill = false;                   // end the process at once
  bool hang = false;                   // close its control socket, so that it ends
  std::optional<ExitVerdict> give_up;  // a budget is spent: GiveUp() follows
};

// Owned by its SupervisedWorker. Each event below CHECKs that it may happen in this state. A
// `jitter` lies in [0, 1). Thread-compatible.
class WorkerLife {
 public:
  struct Serving {
    int64_t since_ns = 0;
    uint64_t fresh_bytes = 0;  // resident when it began to serve
    ServiceWatch watch;
  };
  struct Ending {
    WorkerState during = WorkerState::kWaiting;  // the state in which the end began
    int64_t served_since_ns = 0;                 // 0: it did not serve
    int64_t kill_at_ns = INT64_MAX;              // finite while it should leave by itself
    ExitFacts facts;                             // as far as they are known
    bool lasts = false;                          // the next process would fail too
  };

  // ---- its start ----

  LifeActions Spawn(LifeTime time) {
    MPSD_CHECK(!leaving_);
    return Move<Waiting>(Loading{time.own_ns});
  }
  LifeActions FailToSpawn(double jitter, LifeTime time) {
    ++failures_;
    return Rest(jitter, time);
  }
  // Plans the next start, perhaps of a worker that has failed().
  LifeActions Rest(double jitter, LifeTime time) {
    In<Waiting>().start_at_ns = time.now_ns + BackoffNs(failures_, jitter);
    return {};
  }
  // A worker that is asked may have waited for another one, so its budget begins anew.
  void GoOn(LoadStep step, LifeTime time) {
    auto& loading = In<Loading>();
    MPSD_CHECK(step == LoadStep::kReported || loading.step != LoadStep::kLoads);
    if (step == LoadStep::kAsked) loading.since_own_ns = time.own_ns;
    loading.step = step;
  }
  LifeActions Attach(LifeTime time) { return Move<Loading>(Warming{time.own_ns}); }
  void WarmUp() { In<Warming>().ready = true; }
  LifeActions Serve(size_t lanes, uint64_t resident_bytes, LifeTime time) {
    MPSD_CHECK(ready());
    std::vector<LaneWatch> watches(lanes, LaneWatch(time.own_ns));
    return Move<Warming>(Serving{time.now_ns, resident_bytes, {std::move(watches)}});
  }

  // ---- its budgets ----

  LifeActions Tick(const SupervisionLimits& limits, LifeTime time) {
    const auto late = [](const char* what, int64_t budget_ns) -> LifeActions {
      const std::string budget = absl::FormatDuration(absl::Nanoseconds(budget_ns));
      return {.give_up = ExitVerdict{WorkerExit::kHang, absl::StrCat(what, " within ", budget)}};
    };
    if (const auto* loading = std::get_if<Loading>(&phase_)) {
      const bool is_late = time.own_ns - loading->since_own_ns > limits.load_timeout_ns;
      if (!is_late || loading->step == LoadStep::kWaits) return {};
      return late("the model was not loaded", limits.load_timeout_ns);
    }
    if (const auto* warming = std::get_if<Warming>(&phase_)) {
      if (time.own_ns - warming->since_own_ns <= limits.warmup_timeout_ns) return {};
      return late("the lanes were not warm", limits.warmup_timeout_ns);
    }
    auto* ending = std::get_if<Ending>(&phase_);
    if (ending == nullptr || time.now_ns < ending->kill_at_ns) return {};
    ending->kill_at_ns = INT64_MAX;
    Judge(ending->facts.said_failure ? WorkerExit::kLoad : WorkerExit::kProtocol,
          "it hung up and did not leave");
    return {.kill = true};
  }

  // For a worker that serves or drains, instead of Tick(). See ServiceWatch::Look().
  LifeActions Look(const WorkerProgress& progress, int64_t run_budget_ns, LifeTime time,
                   const std::function<bool()>& stopped) {
    const bool drains = state() == WorkerState::kDraining;
    ServiceWatch& watch = drains ? In<Draining>().watch : In<Serving>().watch;
    const auto fault = watch.Look(progress, run_budget_ns, time.own_ns, stopped);
    if (fault.has_value()) return {.give_up = ExitVerdict{WorkerExit::kHang, *fault}};
    return drains && progress.inflight == 0 ? Dismiss(time) : LifeActions();
  }

  // ---- its end ----

  LifeActions Drain() {
    Move<Serving>(Draining{In<Serving>()});
    leaving_ = true;
    return {.quiesce = true};
  }
  LifeActions Dismiss(LifeTime time) {
    leaving_ = true;
    if (state() == WorkerState::kWaiting) return {};
    Judge(WorkerExit::kAsked, "it is not needed any more");
    return LeaveBy(time.now_ns + kLeaveNs);
  }
  // The first of several verdicts counts. `stopped`: by a SIGSTOP from outside.
  LifeActions GiveUp(const ExitVerdict& verdict, bool stopped, bool lasts) {
    Judge(verdict.exit, verdict.text, stopped);
    End().lasts |= lasts;
    return {.kill = true, .hang = true};
  }
  LifeActions HangUp(LifeTime time) {
    LifeActions actions = LeaveBy(time.now_ns + kLeaveNs);
    actions.quiesce = true;
    return actions;
  }
  LifeActions Fail(bool lasts, LifeTime time) {
    End().facts.said_failure = true;
    End().lasts = lasts;
    return LeaveBy(time.now_ns + kLeaveNs);
  }
  // The process is gone. Its last words may follow, and then Reap().
  void Go() { End(); }
  // Returns whether it had served well. `lasts`: no incarnation follows.
  bool Reap(bool lasts, double jitter, LifeTime time) {
    const int64_t since_ns = In<Ending>().served_since_ns;
    const bool served_well = since_ns > 0 && time.now_ns - since_ns > kGoodServiceNs;
    failures_ = served_well ? 1 : failures_ + 1;
    Move<Ending>(Waiting{INT64_MAX});
    if (!lasts) Rest(jitter, time);
    return served_well;
  }

  // ---- observers ----

  WorkerState state() const { return static_cast<WorkerState>(phase_.index()); }
  const Ending* ending() const { return std::get_if<Ending>(&phase_); }
  const Serving* service() const {  // null unless it serves or drains
    const auto* draining = std::get_if<Draining>(&phase_);
    return draining != nullptr ? draining : std::get_if<Serving>(&phase_);
  }
  bool leaving() const { return leaving_; }  // no incarnation follows
  // The file or the order seems to be at fault: no incarnation follows, unless another worker loads
  // the model or a reload makes another generation.
  bool failed() const { return start_at_ns() == INT64_MAX; }
  int64_t start_at_ns() const {  // 0 while there is a process
    const auto* waiting = std::get_if<Waiting>(&phase_);
    return waiting == nullptr ? 0 : waiting->start_at_ns;
  }
  bool starting() const {
    return state() == WorkerState::kLoading || state() == WorkerState::kWarming;
  }
  bool waits_for_weights() const {
    const auto* loading = std::get_if<Loading>(&phase_);
    return loading != nullptr && loading->step == LoadStep::kWaits;
  }
  bool ready() const {  // its lanes are warm
    const auto* warming = std::get_if<Warming>(&phase_);
    return warming == nullptr ? state() > WorkerState::kWarming : warming->ready;
  }
  bool is_silent() const { return state() == WorkerState::kServing && service()->watch.is_silent; }
  // Whether the process may say this now. Any other message kills it, but for a Failure.
  bool Expects(const Message& message) const {
    if (const auto* loading = std::get_if<Loading>(&phase_)) {
      if (std::holds_alternative<LoadReport>(message)) return loading->step == LoadStep::kLoads;
      return std::holds_alternative<WeightsTold>(message) && loading->step == LoadStep::kAsked;
    }
    if (std::holds_alternative<Ready>(message)) return !ready();
    return std::holds_alternative<SlabsMapped>(message) ||
           std::holds_alternative<SlabsUnmapped>(message);
  }

 private:
  // How long a process that has hung up, or was asked to go, may take to leave.
  static constexpr int64_t kLeaveNs = kNsPerSecond;

  struct Waiting {
    int64_t start_at_ns;
  };
  struct Loading {
    int64_t since_own_ns = 0;
    LoadStep step = LoadStep::kLoads;
  };
  struct Warming {
    int64_t since_own_ns = 0;
    bool ready = false;
  };
  struct Draining : Serving {};

  template <typename State>
  State& In() {
    MPSD_CHECK(std::holds_alternative<State>(phase_));
    return std::get<State>(phase_);
  }
  template <typename From, typename To>
  LifeActions Move(To to) {
    In<From>();
    phase_ = std::move(to);
    return {};
  }
  // REQUIRES: there is a process.
  Ending& End() {
    MPSD_CHECK(state() != WorkerState::kWaiting);
    const int64_t since_ns = service() == nullptr ? 0 : service()->since_ns;
    if (ending() == nullptr) phase_ = Ending{state(), since_ns};
    return In<Ending>();
  }
  void Judge(WorkerExit exit, std::string text, bool stopped = false) {
    ExitFacts& facts = End().facts;
    if (facts.verdict.has_value()) return;
    facts.verdict = {exit, std::move(text)};
    facts.was_stopped = stopped;
  }
  LifeActions LeaveBy(int64_t kill_at_ns) {
    End().kill_at_ns = std::min(End().kill_at_ns, kill_at_ns);
    return {.hang = true};
  }

  std::variant<Waiting, Loading, Warming, Serving, Draining, Ending> phase_;  // as WorkerState
  uint32_t failures_ = 0;  // deaths in a row, and failures to spawn
  bool leaving_ = false;
};

}  // namespace mpsd
