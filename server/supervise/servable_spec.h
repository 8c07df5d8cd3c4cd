// CheckServable: limits of what an untrusted worker may report. Pure.
//
// The config says what its author wrote about a model's inputs and outputs. The rest is in the
// file, which only a worker reads. So the spec by which the front end checks requests, sizes slabs
// and pads rows comes from a process that runs the model's code. Decoding has checked the form of
// the LoadReport. Here the front end checks once whether it can work with the contents:
//
//   sizes     row bytes may be multiplied by kMaxBatchRows without leaving 64 bits
//   padding   each rule names an input and a dim that exist, and each cut an output
//
// A lie within these limits makes a model of another shape: its requests are refused or fail, and
// nothing else happens.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "proto/link/model_spec.h"
#include "proto/link/precision.h"

namespace mpsd {

// INVALID_ARGUMENT with the reason unless the front end can work with the spec. The model has
// inputs and outputs. Padding is for a model that batches, and names open dims that exist, of
// tensors that are not BYTES. The bytes of a row of all tensors together are at most 1 TiB. Open
// dims and the contents of BYTES count as one element: requests decide those, and are checked.
//
// WorkerGroup calls it for a generation's first LoadReport, on the supervisor's thread. The caller
// kills the worker, and the model's state gives the reason. Thread-safe.
absl::Status CheckServable(const ModelSpec& spec);

// INVALID_ARGUMENT for more than kMaxLabels labels, or more than kMaxLabelsBytes together: each
// output of classes keeps them while the model is served. Called beside CheckServable().
// Thread-safe.
absl::Status CheckLabels(absl::Span<const std::string> labels);

// INVALID_ARGUMENT unless `reported` suits a worker that was ordered to compute in `ordered`: the
// same precision if the order named one, and never "auto". Called beside CheckServable().
// Thread-safe.
absl::Status CheckPrecision(Precision ordered, Precision reported);

}  // namespace mpsd
