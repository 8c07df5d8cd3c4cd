// DueCalls: the calls of one thread's open loop as they become due, and the outcome of each.
//
//   Next() ─▶ due at t ─┬─▶ Sent         at t or later: its lateness
//                       ├─▶ NotSent      the run has too many calls open
//                       └─▶ NotSentFrom  the window is over: this and all later calls
//
// A latency counts from the intended time, so a late client makes the server look slow, never fast.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "client/traffic/arrivals.h"
#include "client/traffic/load_run.h"
#include "client/traffic/pump.h"

namespace mpsd::traffic {

// Owned by a pump. Lives on the thread that sends. The plan outlives this object.
class DueCalls {
 public:
  // The calls of the plan's thread `thread`. Warm-up begins at the same moment for all threads.
  // REQUIRES: plan.arrivals.IsOpen().
  DueCalls(const LoadPlan& plan, const Window& window, uint32_t thread);

  // The intended time of the next call; empty if it is outside the warm-up and the window.
  std::optional<int64_t> Next();

  // Reports the outcome of the call that was due at `intended_ns`. Calls of the warm-up are not
  // counted.
  void Sent(int64_t intended_ns, int64_t now_ns);
  void NotSent(int64_t intended_ns);

  // Reports that this call and all later ones in the window are not sent. They are counted by the
  // mean rate, since there may be very many.
  void NotSentFrom(int64_t intended_ns);

  // How many calls were due, sent and not sent, and how late.
  const LoadCounts& counts() const { return counts_; }

 private:
  // Counts the call as due if it is in the window; returns whether it is.
  bool CountDue(int64_t intended_ns);

  const LoadPlan& plan_;
  const Window window_;
  const std::unique_ptr<Arrivals> arrivals_;
  LoadCounts counts_;
};

}  // namespace mpsd::traffic
