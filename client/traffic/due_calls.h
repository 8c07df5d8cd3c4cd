// DueCalls: the calls of one thread's open loop, as their times come, and what became of each.
//
//   Next() ─▶ due at t ─┬─▶ Sent         at t or later: that is its lateness
//                       ├─▶ NotSent      as many calls are open as the run may have
//                       └─▶ NotSentFrom  the window is over: this one, and all still to come
//
// A latency counts from the intended time, so a client that is late makes the server look slow and
// never fast.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "client/traffic/arrivals.h"
#include "client/traffic/load_run.h"
#include "client/traffic/pump.h"

namespace mpsd::traffic {

// Owned by a pump. Lives on the thread that sends. The plan outlives it.
class DueCalls {
 public:
  // Those of thread `thread` of the plan's; warm-up begins at the same moment for all threads.
  // REQUIRES: plan.arrivals.IsOpen().
  DueCalls(const LoadPlan& plan, const Window& window, uint32_t thread);

  // The intended time of the next call; nothing when it is not in the warm-up or the window.
  std::optional<int64_t> Next();

  // What became of the call that was due at `intended_ns`. Calls of the warm-up are not counted.
  void Sent(int64_t intended_ns, int64_t now_ns);
  void NotSent(int64_t intended_ns);

  // The call was due, and so are all until the window's end, of which there may be any number: they
  // are counted by the mean rate.
  void NotSentFrom(int64_t intended_ns);

  // How many were due, sent or not sent, and how late.
  const LoadCounts& counts() const { return counts_; }

 private:
  // Whether the call counts, as one that was due.
  bool CountDue(int64_t intended_ns);

  const LoadPlan& plan_;
  const Window window_;
  const std::unique_ptr<Arrivals> arrivals_;
  LoadCounts counts_;
};

}  // namespace mpsd::traffic
