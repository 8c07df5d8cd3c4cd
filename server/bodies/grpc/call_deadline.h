// CallDeadline: a call's deadline on our clock.
#pragma once

#include <cstdint>

namespace mpsd {

// A value. A request's parameter "timeout" may make its own deadline earlier (Admission).
struct CallDeadline {
  int64_t at_ns = 0;        // as Clock::NowNs()
  int64_t patience_ns = 0;  // Request::patience_ns: time limit per answer; 0: until `at_ns`
};

// A time that no clock reaches, small enough to add to.
inline constexpr int64_t kNoDeadlineNs = INT64_MAX / 2;

// The deadline of a call whose client has set none: `default_ns` from now, and again from each
// answer of several. With a default of 0 there is none. Pure.
inline CallDeadline DefaultDeadline(int64_t now_ns, int64_t default_ns) {
  if (default_ns == 0) return {kNoDeadlineNs, 0};
  return {now_ns + default_ns, default_ns};
}

}  // namespace mpsd
