// TuneBudget: whether there is time for one more candidate.
#pragma once

#include <algorithm>

#include "absl/time/time.h"

namespace mpsd::tune {

// Holds the next candidate to be as long as the longest so far, and leaves half of that for the
// verification. The first always fits: without it there would be nothing to say. It asks no clock.
// Thread-compatible.
class TuneBudget {
 public:
  explicit TuneBudget(absl::Duration total) : total_(total) {}

  // Whether a candidate that begins now, `elapsed` after the start, has its time.
  bool Fits(absl::Duration elapsed) const {
    return longest_ == absl::ZeroDuration() || elapsed + longest_ * 3 / 2 <= total_;
  }

  // How long a candidate has taken.
  void Add(absl::Duration took) { longest_ = std::max(longest_, took); }

 private:
  const absl::Duration total_;
  absl::Duration longest_;
};

}  // namespace mpsd::tune
