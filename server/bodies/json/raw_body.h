// ReadRawBody: reads a body that is one bare tensor.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "proto/link/model_spec.h"
#include "server/bodies/json/infer_body.h"
#include "server/request/infer_message.h"

namespace mpsd {

// Triton's raw binary request, for clients with a file and no JSON: the body is the model's only
// input. Its shape follows from the number of bytes (ToldShape). A BYTES input gets one element,
// without a length before it. Outputs come binary.
//
//   curl --data-binary @image.bin -H 'Inference-Header-Content-Length: 0' …/infer
//
// Fills `message` like InferBody::Read(). `spec` is needed only during the call. INVALID_ARGUMENT
// for several inputs, several open dims beside the batch dim, or bytes that fit no shape. Lives on
// the call's thread.
absl::Status ReadRawBody(std::string body, const ModelSpec& spec, uint64_t message_bytes,
                         InferMessage* message, InferBody* request);

}  // namespace mpsd
