#include "worker/execute/trial_bound.h"

#include <algorithm>

namespace mpsd {
namespace {

absl::StatusOr<int64_t> SettledTimeOf(TimeOfRun time_of, const TrialShape& shape, int64_t most_ns) {
  absl::StatusOr<int64_t> took_ns = time_of(shape);
  if (took_ns.ok() && *took_ns > most_ns) took_ns = time_of(shape);
  return took_ns;
}

}  // namespace

absl::StatusOr<TrialShape> LargestInTime(const TrialShape& small, const TrialShape& large,
                                         int64_t most_ns, TimeOfRun time_of) {
  TrialShape fits = small;
  int64_t took_ns = 0;
  for (TrialShape next = small; next.step <= large.step; ++next.step) {
    const absl::StatusOr<int64_t> time_ns = SettledTimeOf(time_of, next, most_ns);
    if (!time_ns.ok()) return time_ns.status();
    took_ns = *time_ns;
    if (took_ns > most_ns) return fits;
    fits = next;
  }
  const int64_t rows = fits.rows * most_ns / std::max<int64_t>(1, took_ns);
  fits.rows = static_cast<uint32_t>(std::clamp<int64_t>(rows, fits.rows, large.rows));
  return fits;
}

}  // namespace mpsd
