// InferBody: reads the body of an inference request over HTTP.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/bodies/grpc/request_parameters.h"
#include "server/bodies/grpc/tensor_forms.h"
#include "server/bodies/json/body_padding.h"
#include "server/request/infer_message.h"

namespace mpsd {

// The value of the header Inference-Header-Content-Length, where binary tensors follow the JSON;
// all of the body if `header` is empty. INVALID_ARGUMENT for anything but a number from 0 to the
// body's size. Pure.
absl::StatusOr<size_t> JsonBytes(absl::string_view header, size_t body_bytes);

// Step 2 over HTTP: JSON with Triton's extensions becomes an InferMessage.
//
//   | {"inputs":[{"name","shape",…}],…} | binary tensor | binary tensor | padding |
//   |<--------- json_bytes ------------>|
//
//   where an input's elements lie                            its payload
//   "data": [[1,2],[3]] beside the name                      a copy, made while it is read
//   behind the JSON, parameter "binary_data_size"            a view of the body
//   in the client's region, "shared_memory_region"           RequestRegions gives it one
//
// An input has exactly one of the three. Outputs come back as JSON unless WantsBinary(). Unknown
// fields are checked and ignored; a repeated one is refused.
//
// The body is not trusted. Memory beyond it is bounded:
//
//   1. Copies of tensors have at most `message_bytes`.
//   2. Names, shapes and parameters have at most kMaxRequestFieldBytes. There are at most
//      kMaxTensors of each kind.
//   3. The JSON reader takes about 4 bytes per brace, comma, colon and value, plus the size of the
//      longest strings, until Read() returns. The caller bounds the text.
//
// Whether the request fits its model is decided in admit/. Owned by the transport of one request,
// and reused. Lives on the call's thread.
class InferBody {
 public:
  using Shape = absl::InlinedVector<int64_t, 4>;

  // Fills `message`, whose model and version the caller has set from the URL, because errors name
  // the model. The views are valid until the next Read() or Clear(). A body with kBodyPadding bytes
  // of spare capacity is not copied. INVALID_ARGUMENT, or RESOURCE_EXHAUSTED beyond a bound.
  // REQUIRES: json_bytes <= body.size().
  absl::Status Read(std::string body, size_t json_bytes, uint64_t message_bytes,
                    InferMessage* message);

  // The same for the beginning of a body of `whole_bytes`. False unless only the end of the last
  // binary tensor is missing, which the message then has as arriving; Read() reads the whole body
  // anew.
  bool ReadBeginning(std::string beginning, size_t json_bytes, size_t whole_bytes,
                     uint64_t message_bytes, InferMessage* message);

  // Valid as long as the message.
  TensorForms forms() const { return forms_.View(); }

  bool WantsBinary(absl::string_view output) const;

  // Frees the tensors once nobody reads the payloads. Another thread may meanwhile read the
  // message's names, ids and parameters.
  void DropPayloads();

  // Frees the rest, once nobody reads the message. REQUIRES: no DropPayloads() runs.
  void DropFields();

  // Read() does it too.
  void Clear();

 private:
  friend class BodyKeeper;

  absl::Status ReadWith(std::string body, size_t json_bytes, uint64_t message_bytes,
                        uint64_t* missing_bytes, InferMessage* message);

  struct BinaryChoice {
    absl::string_view output;
    bool binary = false;
  };

  std::string body_;
  std::string copied_;  // tensors from JSON; payloads are views of this and body_
  std::deque<std::string> texts_;
  std::deque<Shape> shapes_;
  std::deque<ParameterMap> parameters_;  // for tensors; forms_ has views
  TensorFormLists forms_;
  std::vector<BinaryChoice> choices_;  // outputs that state one
  bool binary_by_default_ = false;
};

}  // namespace mpsd
