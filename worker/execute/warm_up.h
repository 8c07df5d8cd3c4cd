// warm_up: a lane's runs with inputs that no client sent, before its first batch and to keep its
// model warm.
//
// The first runs of a model are its slowest: libtorch compiles and fuses code for new shapes, a
// device loads its kernels, allocators take their memory. A worker reports ready only after these
// runs, so no client waits for them.
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
  absl::Status status;   // status of the last run
  bool has_run = false;  // a shape (the first one is the smallest) or a sample was run

  bool ok() const { return status.ok(); }
};

// Runs zeros of the model's shapes through the lane, one run after another, and drops the outputs.
// `warmup` says which shapes:
//
//   kNone      no run
//   kSmallest  one row, every padded dim at its first bucket
//   kAll       Every step from a padded dim's first bucket to its last, with 1 and max_batch_size
//              rows. A model that wants row buckets (row_buckets.h) runs each step with every row
//              count that it is ever run with.
//   kAuto      kSmallest on the cpu, kAll elsewhere
//
// Makes at most twice as many runs as the longest padding rule has buckets (kMaxBuckets), or eleven
// times as many with row buckets. A decoupled model is asked only for its first answer. Elements of
// BYTES are empty strings.
//
// If there are `samples`, the lane runs them instead, each as often as the sample says, unless
// `warmup` is kNone.
//
// Stops at the first run that fails. INVALID_ARGUMENT: a shape is too large to count its bytes, or
// a sample does not fit the model. Blocks for all the runs. Called on the lane's thread, after
// Model::BindLane() and before the lane's first batch.
WarmUpEnd WarmUpLane(Model* model, uint32_t lane, WarmUp warmup,
                     absl::Span<const WarmUpSample> samples = {});

// Runs the lane's first sample once, which may have max_batch_size rows. Without samples, runs one
// row of zeros of the smallest shape. Either run touches all of the model. Errors as for
// WarmUpLane(). Called on the lane's thread between its batches.
absl::Status RunToKeepWarm(Model* model, uint32_t lane, absl::Span<const WarmUpSample> samples);

// Whether the lane can serve after an error, though its first requests may be slow. It can if the
// model refuses the inputs, or they do not fit it: not every model takes zeros and empty strings.
// It can also if a shape was run and memory did not suffice for a later one: a client's batch that
// fails so runs in parts (batch_executor.h). After any other error the lane cannot serve. Pure.
bool CanServeAfter(const WarmUpEnd& end);

}  // namespace mpsd
