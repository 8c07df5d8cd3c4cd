// Which model a worker may report: the worker is not trusted to be sane.
#pragma once

#include "absl/status/status.h"
#include "proto/link/model_spec.h"

namespace mpsd {

// INVALID_ARGUMENT with what is wrong, unless the front end can work with the spec: there are
// inputs and outputs, padding names dims that exist, of a model that batches, and no row or batch
// comes near what 64 bits count. Pure.
absl::Status CheckServable(const ModelSpec& spec);

}  // namespace mpsd
