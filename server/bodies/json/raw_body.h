// ReadRawBody: reads a body that is one bare tensor.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "proto/link/model_spec.h"
#include "server/bodies/json/infer_body.h"
#include "server/request/infer_message.h"

namespace mpsd {

// Triton's raw binary request, for clients that have a file and no JSON. The header
// Inference-Header-Content-Length is 0, and the body is the tensor of the model's only input. Its
// shape follows from the number of bytes (ToldShape). A BYTES input gets one element, without a
// length before it. Outputs come binary.
//
//   curl --data-binary @image.bin -H 'Inference-Header-Content-Length: 0' …/infer
//
// Fills `message` like InferBody::Read(), with the same object. The spec is needed only during the
// call. Lives on the call's thread. INVALID_ARGUMENT:
//  - The model has several inputs.
//  - The input has several open dims beside the batch dim.
//  - The number of bytes fits no shape of the input.
absl::Status ReadRawBody(std::string body, const ModelSpec& spec, uint64_t message_bytes,
                         InferMessage* message, InferBody* request);

}  // namespace mpsd
