// Clock: the time, in nanoseconds of the host's one monotonic clock.
//
// Wall-clock time is only in what people read. All processes share the clock, so a worker may
// compare the front end's deadline with its own NowNs(). A class that waits or measures takes a
// `const Clock*`:
//
//   BatchExecutor(uint32_t lane, Model* model, const Clock* clock)
//
//   in the worker   BatchExecutor executor(0, model, Clock::Real());
//   in a test       FakeClock clock; BatchExecutor executor(0, &model, &clock); clock.Advance(…);
#pragma once

#include <cstdint>

namespace mpsd {

// The only source of time, so that tests can stop it. A test's FakeClock (tests/fakes) must outlive
// its users. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;

  virtual int64_t NowNs() const = 0;

  // Never destroyed.
  static const Clock* Real();
};

inline constexpr int64_t kNsPerUs = 1'000;
inline constexpr int64_t kNsPerMs = 1'000'000;
inline constexpr int64_t kNsPerSecond = 1'000'000'000;

}  // namespace mpsd
