// Time. Monotonic everywhere; wall clock only where people read it.
#pragma once

#include <cstdint>

namespace mpsd {

// Thread-safe. The one way by which code asks for the time, so that tests can hold it.
class Clock {
 public:
  virtual ~Clock() = default;

  // Nanoseconds of the host's monotonic clock: the same in every process of the host.
  virtual int64_t NowNs() const = 0;

  // The host's clock, which lives for ever.
  static const Clock* Real();
};

inline constexpr int64_t kNsPerUs = 1'000;
inline constexpr int64_t kNsPerMs = 1'000'000;
inline constexpr int64_t kNsPerSecond = 1'000'000'000;

}  // namespace mpsd
