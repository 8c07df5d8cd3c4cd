// warm_up: a lane's runs before its first batch and to keep its model warm.
//
// A model's first runs are its slowest: libtorch compiles code for new shapes, a device loads
// kernels, allocators take memory. So a worker reports ready only after them.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "proto/link/warm_up.h"
#include "proto/link/warm_up_sample.h"
#include "worker/model/model.h"

namespace mpsd {

struct WarmUpEnd {
  absl::Status status;   // status of the last run
  bool has_run = false;  // a shape or a sample was run; the first shape is the smallest

  bool ok() const { return status.ok(); }
};

// Runs zeros (empty strings for BYTES) through the lane and drops the outputs:
//
//   kNone      no run
//   kSmallest  one row, every padded dim at its first bucket
//   kAll       every step from a padded dim's first bucket to its last, with each of RowCountsOf()
//   kAuto      kSmallest on the cpu, kAll elsewhere
//
// If there are `samples`, the lane runs them instead, unless `warmup` is kNone. A decoupled model
// is asked only for its first answer. Makes at most two runs for each of kMaxBuckets, or eleven
// with row buckets.
//
// Stops at the first run that fails. INVALID_ARGUMENT: a shape is too large to count its bytes, or
// a sample does not fit the model. Blocks. Called on the lane's thread, after Model::BindLane().
WarmUpEnd WarmUpLane(Model* model, uint32_t lane, WarmUp warmup,
                     absl::Span<const WarmUpSample> samples = {});

// Runs the lane's first sample once, or without samples one row of zeros of the smallest shape.
// Errors as for WarmUpLane(). Called on the lane's thread between batches.
absl::Status RunToKeepWarm(Model* model, uint32_t lane, absl::Span<const WarmUpSample> samples);

// Whether the lane can serve although the warm-up failed. It can if the inputs are refused: not
// every model takes zeros and empty strings. It also can if memory sufficed for a smaller shape: a
// client's batch then runs in parts (batch_executor.h). Pure.
bool CanServeAfter(const WarmUpEnd& end);

}  // namespace mpsd
