// WriteInferReply: the body of an inference's HTTP response.
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

// JSON, then the outputs that the client wanted binary, in their order.
//
//   {"model_name":"m","model_version":"1","id":"7","outputs":[
//     {"name":"y","datatype":"FP32","shape":[2],"data":[0.5,1.0]},
//     {"name":"z","datatype":"INT8","shape":[3],"parameters":{"binary_data_size":3}}]}ABC
struct InferReply {
  std::string json;
  absl::InlinedVector<absl::string_view, 4> binary;  // views of the answer; none is empty
  uint64_t binary_bytes = 0;

  // The header Inference-Header-Content-Length; 0: there is none.
  size_t header_bytes() const { return binary.empty() ? 0 : json.size(); }
};

// Step 13 over HTTP. `request` says which outputs come binary. An output in the client's region has
// neither data nor bytes. The views of `reply` live as long as the answer's bytes. Statuses as
// PutTensorJson(), with `most_bytes` of JSON. Thread-safe.
absl::Status WriteInferReply(const ReplyHead& head, const Answer& answer, const InferBody& request,
                             size_t most_bytes, InferReply* reply);

}  // namespace mpsd
