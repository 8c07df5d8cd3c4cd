// CheckServable: the limits of what a worker, which is not trusted, may report. Pure.
//
// The config says as much of a model's inputs and outputs as its author wrote; the file says the
// rest, and only a worker has read the file. So the spec by which the front end checks requests,
// sizes slabs and pads rows comes out of a LoadReport: out of a process that runs the model's code.
// The form of the message was checked when it was decoded; here it is checked whether the front end
// can work with it, so that no later step needs to ask:
//
//   sizes     row bytes may be multiplied by kMaxBatchRows without leaving 64 bits
//   padding   each rule names an input and a dim that exist, and each cut an output
//
// A lie within these limits is a model of another shape: its requests are refused or fail, and
// nothing else.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "proto/link/model_spec.h"
#include "proto/link/precision.h"

namespace mpsd {

// INVALID_ARGUMENT with the reason unless the front end can work with the spec: the model has
// inputs and outputs, padding is of a model that batches and names open dims that exist, of tensors
// that are not BYTES, and the bytes of a row of all tensors together are at most 1 TiB. Dims that
// are open, and the contents of BYTES, count as one element: requests decide those, and are
// checked.
//
// Called by WorkerGroup for the first LoadReport of a generation, on the supervisor's thread. The
// caller kills the worker, and the model's state says the reason. Thread-safe.
absl::Status CheckServable(const ModelSpec& spec);

// INVALID_ARGUMENT unless these are at most kMaxLabels labels of kMaxLabelsBytes together: each
// output of classes keeps them for as long as the model is served. Called beside CheckServable().
// Thread-safe.
absl::Status CheckLabels(absl::Span<const std::string> labels);

// INVALID_ARGUMENT unless a worker that was ordered to compute in `ordered` may report `reported`:
// the same one where the order named one, and never "auto". Called beside CheckServable().
// Thread-safe.
absl::Status CheckPrecision(Precision ordered, Precision reported);

}  // namespace mpsd
