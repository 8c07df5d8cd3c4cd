// trial_bound: how large a shape is tried before a model serves.
//
// On a cpu the largest batch of an encoder with long texts takes minutes, and gigabytes. So a trial
// uses the largest shape whose run is short enough, judged by smaller runs:
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

// How long one run of a shape takes.
using TimeOfRun = absl::FunctionRef<absl::StatusOr<int64_t>(const TrialShape& shape)>;

// The largest shape from `small` to `large`, both from TrialShapes(), that runs within `most_ns`;
// `small` if none does. Calls `time_of` for longer and longer rows, until a run takes too long.
// That run is repeated once, because the first may compile code. An error of `time_of` is returned.
absl::StatusOr<TrialShape> LargestInTime(const TrialShape& small, const TrialShape& large,
                                         int64_t most_ns, TimeOfRun time_of);

}  // namespace mpsd
