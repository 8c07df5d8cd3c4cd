// trial_bound: how large a shape is tried before a model serves.
//
// On a cpu the largest batch of an encoder with long texts takes minutes, and gigabytes. So a trial
// tries the largest shape that one run has the time for, as far as smaller runs tell:
//
//   four rows of each bucket, one after another  ─▶ the last bucket that takes kTrialRunNs at most
//   the last bucket fits?                        ─▶ more rows of it, in proportion
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "proto/base/clock.h"
#include "worker/model/trial_dims.h"

namespace mpsd {

// How long one run of such a shape takes at most.
inline constexpr int64_t kTrialRunNs = 200 * kNsPerMs;

// How long one run of a shape takes.
using TimeOfRun = absl::FunctionRef<absl::StatusOr<int64_t>(const TrialShape& shape)>;

// The largest shape from `small` to `large`, both of TrialShapes(), that fits in kTrialRunNs;
// `small` where none does. `time_of` is asked of longer and longer rows; once more where a run
// takes too long, since the first one may compile code; and of none after that. Its error is the
// call's.
absl::StatusOr<TrialShape> LargestInTime(const TrialShape& small, const TrialShape& large,
                                         TimeOfRun time_of);

}  // namespace mpsd
