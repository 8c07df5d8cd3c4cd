// CheckServable: limits of what an untrusted worker may report. Pure.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "proto/link/model_spec.h"
#include "proto/link/precision.h"

namespace mpsd {

// By a worker's spec the front end checks requests, sizes slabs and pads rows. INVALID_ARGUMENT
// with the reason unless it can:
//
//   sizes     a row of all tensors has at most 1 TiB; open dims and BYTES count as one element
//   padding   the model batches; each rule names an open dim of an input, each cut an output
//
// A lie within these limits only makes a model of another shape. WorkerGroup calls this for a
// generation's first LoadReport and kills the worker after an error. Thread-safe.
absl::Status CheckServable(const ModelSpec& spec);

// At most kMaxLabels labels and kMaxLabelsBytes; else INVALID_ARGUMENT. Thread-safe.
absl::Status CheckLabels(absl::Span<const std::string> labels);

// INVALID_ARGUMENT unless `reported` is the ordered precision, or any but "auto" if the order named
// none. Thread-safe.
absl::Status CheckPrecision(Precision ordered, Precision reported);

}  // namespace mpsd
