// warm_up: the runs that a lane makes with inputs that no client sent: before its first batch, and
// where it keeps its model warm.
//
// The first runs of a model are its slowest: libtorch compiles and fuses code for the shapes that
// it sees, a device loads its kernels, allocators take their memory. A worker says that it is ready
// only after its lanes have made these runs, so that no client waits for them.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "proto/link/warm_up.h"
#include "proto/link/warm_up_sample.h"
#include "worker/model/model.h"

namespace mpsd {

// How a warm-up ended. A value.
struct WarmUpEnd {
  absl::Status status;   // of the last run
  bool has_run = false;  // a shape was run: the first one, which is the smallest, or a sample

  bool ok() const { return status.ok(); }
};

// Runs zeros of the model's shapes through the lane, one run after another, and drops the outputs.
// `warmup` says which shapes:
//
//   kNone      no run
//   kSmallest  one row, every padded dim at its first bucket
//   kAll       every step from a padded dim's first bucket to its last, each with one row and with
//              max_batch_size rows, and with each number of rows that the model is ever run with
//              where it wants row buckets (row_buckets.h)
//   kAuto      kSmallest on the cpu, kAll elsewhere
//
// At most twice as many runs as the longest padding rule has buckets (kMaxBuckets), or eleven times
// as many with row buckets. A decoupled model is asked for its first answer only. Elements of BYTES
// are empty strings.
//
// Where there are `samples`, the lane runs those instead, each as often as it says, unless `warmup`
// is kNone.
//
// Ends at the first run that fails, and makes no further one. INVALID_ARGUMENT: a shape is too
// large to count its bytes, or a sample does not fit the model. Blocks for all the runs. Called on
// the lane's thread, after Model::BindLane() and before its first batch.
WarmUpEnd WarmUpLane(Model* model, uint32_t lane, WarmUp warmup,
                     absl::Span<const WarmUpSample> samples = {});

// Runs the lane's first sample once, which may have max_batch_size rows; where there are no
// samples, one row of zeros of the smallest shape. Either touches all of the model. Errors as
// above. Called on the lane's thread between its batches.
absl::Status RunToKeepWarm(Model* model, uint32_t lane, absl::Span<const WarmUpSample> samples);

// Whether the lane can serve after an error, though its first requests may be slow: the model
// refuses the inputs, or they do not fit it, since zeros and empty strings are no inputs that every
// model takes; or memory did not suffice for a shape after another was run, since a batch of a
// client that fails so runs in parts (batch_executor.h). After any other error the lane cannot.
// Pure.
bool CanServeAfter(const WarmUpEnd& end);

}  // namespace mpsd
