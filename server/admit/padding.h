// ApplyPadding: decides to which lengths a request's dims are padded.
#pragma once

#include "absl/status/status.h"
#include "proto/link/model_spec.h"
#include "server/request/request.h"

namespace mpsd {

// Sets padded_dims and row_bytes of each input and the request's shape key, from the dims that the
// client sent. A padded dim gets the smallest bucket that holds it. INVALID_ARGUMENT when a length
// exceeds the largest bucket. REQUIRES: Validate() accepted the request. Pure.
absl::Status ApplyPadding(const ModelSpec& spec, Request* request);

}  // namespace mpsd
