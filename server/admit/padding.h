// ApplyPadding: decides to which lengths a request's dims are padded.
#pragma once

#include "absl/status/status.h"
#include "proto/link/model_spec.h"
#include "server/request/request.h"

namespace mpsd {

// Only requests with equal shape keys share a batch, so a spec may list buckets for a dim
// (PadRule):
//
//   buckets of dim 0 of "ids": 64, 128, 512
//   the client sends [100]  →  padded_dims [128], key 128   the batch carries 128 elements
//   the client sends [128]  →  padded_dims [128], key 128   so that both can run together
//   the client sends [513]  →  INVALID_ARGUMENT
//
// Step 3 of a request. Sets padded_dims and row_bytes of each input and the request's shape key. A
// BYTES input keeps row_bytes 0, since its length follows from its payload. INVALID_ARGUMENT if a
// length exceeds the largest bucket, if rows of tokens differ in length, or if one row of all
// inputs takes more than 2^40 bytes. After an error the request is partly changed. REQUIRES:
// Validate() accepted the request. Pure.
absl::Status ApplyPadding(const ModelSpec& spec, Request* request);

}  // namespace mpsd
