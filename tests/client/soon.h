// Soon: the deadline of calls that tests expect to end well before it.
#pragma once

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace mpsd {

inline absl::Time Soon() { return absl::Now() + absl::Seconds(30); }

}  // namespace mpsd
