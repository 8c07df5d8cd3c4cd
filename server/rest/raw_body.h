// ReadRawBody: a body that is nothing but one tensor.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "proto/link/model_spec.h"
#include "server/request/infer_message.h"
#include "server/rest/infer_body.h"

namespace mpsd {

// Triton's raw binary request, for clients that have a file and no JSON: the header
// Inference-Header-Content-Length is 0, and the body is the tensor of the model's only input. Its
// shape follows from the count of its bytes (ToldShape); a BYTES input gets one element, which has
// no length before it. Outputs come binary.
//
//   curl --data-binary @image.bin -H 'Inference-Header-Content-Length: 0' …/infer
//
// Fills `message` as InferBody::Read(), on the same object. INVALID_ARGUMENT for a model with
// several inputs, and a count of bytes that no shape of the input has. The spec is not needed after
// that. Lives on the call's thread.
absl::Status ReadRawBody(std::string body, const ModelSpec& spec, uint64_t message_bytes,
                         InferMessage* message, InferBody* request);

}  // namespace mpsd
