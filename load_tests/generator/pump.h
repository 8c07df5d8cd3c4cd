// Pump: one client thread's part of a run.
#pragma once

#include <cstdint>

#include "load_tests/generator/load_plan.h"

namespace mpsd::load {

// The time in which calls count, in nanoseconds of the monotonic clock.
struct Window {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;

  bool Holds(int64_t now_ns) const { return begin_ns <= now_ns && now_ns < end_ns; }
};

// Owned by the run, which gives each pump a thread. Lives on the thread that calls Run(), which is
// called once.
class Pump {
 public:
  virtual ~Pump() = default;

  // Loads the server until the window's end, then takes the answers that are still to come. Blocks
  // for all that time.
  virtual void Run(const Window& window) = 0;

  // Constant after Run() has returned; not to be read before.
  virtual const LoadCounts& counts() const = 0;
};

}  // namespace mpsd::load
