// CallDeadline: a call's deadline on our clock.
#pragma once

#include <cstdint>

namespace mpsd {

// The parameter "timeout" may make a request's own deadline earlier (Admission).
struct CallDeadline {
  int64_t at_ns = 0;        // as Clock::NowNs()
  int64_t patience_ns = 0;  // limit per answer; 0: until `at_ns`
};

// No clock reaches this time, and it can be added to.
inline constexpr int64_t kNoDeadlineNs = INT64_MAX / 2;

// The deadline where the client set none. It applies again from each of several answers; 0: no
// deadline. Pure.
inline CallDeadline DefaultDeadline(int64_t now_ns, int64_t default_ns) {
  if (default_ns == 0) return {kNoDeadlineNs, 0};
  return {now_ns + default_ns, default_ns};
}

}  // namespace mpsd
