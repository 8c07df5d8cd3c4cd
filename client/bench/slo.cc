#include "client/bench/slo.h"

#include <limits>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "proto/base/clock.h"
#include "proto/base/units.h"

namespace mpsd::bench {

absl::StatusOr<Slo> ParseSlo(absl::string_view text) {
  const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits('=', 1));
  absl::string_view percent_text = parts.first;
  double percent = 0;
  const absl::StatusOr<int64_t> bound_ns = ParseDurationNs(parts.second);
  if (!absl::ConsumePrefix(&percent_text, "p") || !absl::SimpleAtod(percent_text, &percent) ||
      !(percent >= 1 && percent <= 99.99) || !bound_ns.ok() || *bound_ns <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "': a percentile and a duration are expected, as p99=20ms"));
  }
  return Slo{.quantile = percent / 100, .bound_ns = *bound_ns};
}

std::string SloText(const Slo& slo) {
  return absl::StrFormat("p%g <= %s", slo.quantile * 100, LatencyText(slo.bound_ns));
}

std::string LatencyText(int64_t ns) {
  if (ns == std::numeric_limits<int64_t>::max()) return "never";
  const bool seconds = ns >= kNsPerSecond;
  return absl::StrFormat(
      "%.3g %s", static_cast<double>(ns) / static_cast<double>(seconds ? kNsPerSecond : kNsPerMs),
      seconds ? "s" : "ms");
}

}  // namespace mpsd::bench
