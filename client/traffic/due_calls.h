// DueCalls: the calls of one thread's open loop as they become due, and the outcome of each.
//
//   Next() ─▶ due at t ─┬─▶ Sent         at t or later: its lateness
//                       ├─▶ NotSent      the run has too many calls open
//                       └─▶ NotSentFrom  the window is over: this and all later calls
//
// A late client makes the server look slow, never fast.
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
  // Warm-up begins at the same moment for all threads. REQUIRES: plan.arrivals.IsOpen().
  DueCalls(const LoadPlan& plan, const Window& window, uint32_t thread);

  // An intended time; empty if it lies outside the warm-up and the window.
  std::optional<int64_t> Next();

  // The warm-up's calls are not counted.
  void Sent(int64_t intended_ns, int64_t now_ns);
  void NotSent(int64_t intended_ns);

  // Neither this call nor any later one in the window. The mean rate counts them: there may be very
  // many.
  void NotSentFrom(int64_t intended_ns);

  // Calls due, sent and not sent, and how late.
  const LoadCounts& counts() const { return counts_; }

 private:
  // Whether the call is in the window, where it counts as due.
  bool CountDue(int64_t intended_ns);

  const LoadPlan& plan_;
  const Window window_;
  const std::unique_ptr<Arrivals> arrivals_;
  LoadCounts counts_;
};

}  // namespace mpsd::traffic
