// TuneBudget: decides whether there is time for one more candidate.
#pragma once

#include <algorithm>

#include "absl/time/time.h"

namespace mpsd::tune {

// Expects the next candidate to take as long as the longest so far, and half of that for the
// verification. The first always fits. Reads no clock. Thread-compatible.
class TuneBudget {
 public:
  explicit TuneBudget(absl::Duration total) : total_(total) {}

  // A candidate that begins `elapsed` after the start.
  bool Fits(absl::Duration elapsed) const {
    return longest_ == absl::ZeroDuration() || elapsed + longest_ * 3 / 2 <= total_;
  }

  void Add(absl::Duration took) { longest_ = std::max(longest_, took); }

 private:
  const absl::Duration total_;
  absl::Duration longest_;
};

}  // namespace mpsd::tune
