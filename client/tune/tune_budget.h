// TuneBudget: decides whether there is time for one more candidate.
#pragma once

#include <algorithm>

#include "absl/time/time.h"

namespace mpsd::tune {

// Expects the next candidate to take as long as the longest so far, and leaves half of that for the
// verification. The first candidate always fits. Reads no clock. Thread-compatible.
class TuneBudget {
 public:
  explicit TuneBudget(absl::Duration total) : total_(total) {}

  // Whether there is time for a candidate that begins now, `elapsed` after the start.
  bool Fits(absl::Duration elapsed) const {
    return longest_ == absl::ZeroDuration() || elapsed + longest_ * 3 / 2 <= total_;
  }

  // Adds the time that a candidate has taken.
  void Add(absl::Duration took) { longest_ = std::max(longest_, took); }

 private:
  const absl::Duration total_;
  absl::Duration longest_;
};

}  // namespace mpsd::tune
