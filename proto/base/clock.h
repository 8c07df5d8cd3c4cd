// Clock: the time. Monotonic everywhere; wall-clock time only in what people read.
#pragma once

#include <cstdint>

namespace mpsd {

// The only source of time in the code, so that tests can stop it. Real() lives as long as the
// process; a test owns its FakeClock, which outlives all that uses it. Thread-safe.
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
