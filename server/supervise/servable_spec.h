// CheckServable: the limits of a spec that a worker, which is not trusted, may report. Pure.
#pragma once

#include "absl/status/status.h"
#include "proto/link/model_spec.h"

namespace mpsd {

// INVALID_ARGUMENT with the reason unless the front end can work with the spec: the model has
// inputs and outputs, padding is of a model that batches and names dims that exist, and the bytes
// of a row or a batch stay far below what 64 bits hold.
absl::Status CheckServable(const ModelSpec& spec);

}  // namespace mpsd
