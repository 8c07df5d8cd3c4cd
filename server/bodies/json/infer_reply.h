// WriteInferReply: turns an answer into the body of an HTTP response.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/bodies/grpc/reply_head.h"
#include "server/bodies/json/infer_body.h"
#include "server/request/reply.h"

namespace mpsd {

// The body of the response to an inference request: JSON, then the outputs that the client wanted
// binary, in their order.
//
//   {"model_name":"m","model_version":"1","id":"7","outputs":[
//     {"name":"y","datatype":"FP32","shape":[2],"data":[0.5,1.0]},
//     {"name":"z","datatype":"INT8","shape":[3],"parameters":{"binary_data_size":3}}]}ABC
struct InferReply {
  std::string json;
  absl::InlinedVector<absl::string_view, 4> binary;  // views of the answer's bytes; none is empty
  uint64_t binary_bytes = 0;

  // The value of the header Inference-Header-Content-Length, if anything follows the JSON; 0: there
  // is no such header.
  size_t header_bytes() const { return binary.empty() ? 0 : json.size(); }
};

// Step 13 of a request over HTTP, as AppendReply() is for gRPC. `request` says which outputs come
// binary. An output in the client's region has neither data nor bytes. The views of `reply` are
// valid as long as the answer's bytes are. INVALID_ARGUMENT, RESOURCE_EXHAUSTED or INTERNAL as
// PutTensorJson(); the JSON may take `most_bytes`. Thread-safe.
absl::Status WriteInferReply(const ReplyHead& head, const Answer& answer, const InferBody& request,
                             size_t most_bytes, InferReply* reply);

}  // namespace mpsd
