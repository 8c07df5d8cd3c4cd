// Slo: a user's demand on a server's latency: "p99=20ms".
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mpsd::bench {

// At least `quantile` of all requests get a right answer within `bound_ns`.
struct Slo {
  double quantile = 0.99;
  int64_t bound_ns = 0;
};

// "p99=20ms": a percentile from 1 to 99.99 and a duration. INVALID_ARGUMENT says what is wrong.
// Pure.
absl::StatusOr<Slo> ParseSlo(absl::string_view text);

// "p99 <= 20 ms". Pure.
std::string SloText(const Slo& slo);

// "20 ms", "1.25 ms"; "never" for INT64_MAX. Pure.
std::string LatencyText(int64_t ns);

}  // namespace mpsd::bench
