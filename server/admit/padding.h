// ApplyPadding: decides to which lengths a request's dims are padded.
#pragma once

#include "absl/status/status.h"
#include "proto/link/model_spec.h"
#include "server/request/request.h"

namespace mpsd {

// Only requests with equal shape keys share a batch. A model for lengths of 1 to 512 would have 512
// keys, and hardly ever a batch of two. So a spec may list buckets for a dim, in a PadRule:
//
//   buckets of dim 0 of "ids": 64, 128, 512
//   the client sends [100]  →  padded_dims [128], key 128   the batch carries 128 elements
//   the client sends [128]  →  padded_dims [128], key 128   so that both can run together
//   the client sends [513]  →  INVALID_ARGUMENT
//
// Step 3 of a request, after Validate() and before rows are reserved: row_bytes decides how much
// memory the request takes. RowWriter writes the pad elements, and reply/ cuts padded outputs back.
//
// Sets padded_dims and row_bytes of each input and the request's shape key, from the client's dims.
// A padded dim gets the smallest bucket that holds it; other dims stay. A BYTES input keeps
// row_bytes 0, since its length follows from its payload. INVALID_ARGUMENT if a length exceeds the
// largest bucket. The same if one row of all inputs takes more than 2^40 bytes, so that no later
// product overflows. After an error the request is partly changed. REQUIRES: Validate() accepted
// the request. Pure.
absl::Status ApplyPadding(const ModelSpec& spec, Request* request);

}  // namespace mpsd
