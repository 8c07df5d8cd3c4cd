// example: the helpers that every example needs.
#pragma once

#include <cstdio>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "client/client.h"

namespace example {

inline int Fail(const absl::Status& status) {
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}

inline absl::Time Deadline(int seconds = 10) { return absl::Now() + absl::Seconds(seconds); }

// Puts 1 for each open dim.
inline mpsd::Dims Smallest(mpsd::Dims shape) {
  for (int64_t& dim : shape) dim = dim < 0 ? 1 : dim;
  return shape;
}

}  // namespace example
