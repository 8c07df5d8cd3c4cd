// Clock: the time. Monotonic everywhere; wall-clock time only in what people read.
//
// A time is an int64_t of nanoseconds whose name ends in _ns. Deadlines, ages of workers and times
// in shared memory all use the host's one monotonic clock, so a worker may compare the front end's
// deadline with its own NowNs(). Setting the date does not move the clock.
//
// A class that waits or measures takes a `const Clock*` at construction:
//
//   BatchExecutor(uint32_t lane, Model* model, const Clock* clock)
//
//   in the worker   BatchExecutor executor(0, model, Clock::Real());
//   in a test       FakeClock clock; BatchExecutor executor(0, &model, &clock); clock.Advance(…);
#pragma once

#include <cstdint>

namespace mpsd {

// The only source of time in the code, so that tests can stop it. Real() lives as long as the
// process. A test owns its FakeClock (tests/fakes), which must outlive its users. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;

  // Nanoseconds of the host's monotonic clock, which all processes of the host share.
  virtual int64_t NowNs() const = 0;

  // The host's clock. Never destroyed.
  static const Clock* Real();
};

inline constexpr int64_t kNsPerUs = 1'000;
inline constexpr int64_t kNsPerMs = 1'000'000;
inline constexpr int64_t kNsPerSecond = 1'000'000'000;

}  // namespace mpsd
