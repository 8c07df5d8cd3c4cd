// Padding: which length a request's dims get in the batch.
#pragma once

#include "absl/status/status.h"
#include "proto/link/model_spec.h"
#include "server/request/request.h"

namespace mpsd {

// Fills padded_dims, row_bytes and the shape key of the request from its inputs' own dims.
// INVALID_ARGUMENT when a length is beyond the largest bucket. Pure.
absl::Status ApplyPadding(const ModelSpec& spec, Request* request);

}  // namespace mpsd
