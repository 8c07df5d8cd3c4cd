// trial_bound: how large a shape is tried before a model serves.
//
// On a cpu the largest batch of long texts takes minutes, and gigabytes. Smaller runs tell what
// fits:
//
//   four rows of each bucket, one after another  ─▶ the last bucket within `most_ns`
//   the last bucket fits?                        ─▶ more rows of it, in proportion
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "proto/base/clock.h"
#include "worker/model/trial_dims.h"

namespace mpsd {

using TimeOfRun = absl::FunctionRef<absl::StatusOr<int64_t>(const TrialShape& shape)>;

// The largest shape from `small` to `large` that runs within `most_ns`; `small` if none does. A run
// that takes too long is repeated once, because the first may compile code. Returns errors of
// `time_of`.
absl::StatusOr<TrialShape> LargestInTime(const TrialShape& small, const TrialShape& large,
                                         int64_t most_ns, TimeOfRun time_of);

}  // namespace mpsd
