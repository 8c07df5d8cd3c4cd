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

// How many bytes of a body are JSON: the value of the header Inference-Header-Content-Length, which
// says that binary tensors follow. All of them if there is no such header (`header` is empty).
// INVALID_ARGUMENT unless the header is a number from 0 to the body's size. Pure.
absl::StatusOr<size_t> JsonBytes(absl::string_view header, size_t body_bytes);

// Step 2 of a request over HTTP, like RequestWire for gRPC: JSON with Triton's extensions becomes
// an InferMessage.
//
//   | {"inputs":[{"name","shape",…}],…} | binary tensor | binary tensor | padding |
//   |<--------- json_bytes ------------>|
//
//   where an input's elements lie                            its payload
//   "data": [[1,2],[3]] beside the name                      a copy, made while it is read
//   behind the JSON, parameter "binary_data_size"            a view of the body
//   in the client's region, "shared_memory_region"           RequestRegions gives it one
//
// An input has exactly one of the three. Binary tensors lie in the order of the inputs. Outputs
// come back as JSON unless the client wants them binary: see WantsBinary(). Unknown fields are
// checked and ignored; a repeated field is refused.
//
// The body is not trusted. Memory beyond the body is bounded:
//
//   1. Copies of tensors have at most `message_bytes`.
//   2. Names, shapes and parameters have at most kMaxRequestFieldBytes. There are at most
//      kMaxTensors of each kind.
//   3. The JSON reader takes about 4 bytes per brace, comma, colon and value, plus the size of the
//      longest strings, until Read() returns. The caller bounds the text.
//
// Checks the same as RequestWire; whether the request fits its model is decided in admit/. Owned by
// the transport of one request, and reused for the next. Lives on the call's thread.
class InferBody {
 public:
  using Shape = absl::InlinedVector<int64_t, 4>;

  // Fills `message` except the model and the version. The caller sets these from the URL before,
  // because errors name the model. The views are valid until the next Read() or Clear(). A body
  // with kBodyPadding bytes of spare capacity is not copied. INVALID_ARGUMENT, or
  // RESOURCE_EXHAUSTED beyond a bound. REQUIRES: json_bytes <= body.size().
  absl::Status Read(std::string body, size_t json_bytes, uint64_t message_bytes,
                    InferMessage* message);

  // Reads the beginning of a body of `whole_bytes` bytes. It lacks no more than the end of the last
  // binary tensor, which the message has as arriving. False if the body has to be whole: then
  // Read() reads it anew. REQUIRES: the same as for Read().
  bool ReadBeginning(std::string beginning, size_t json_bytes, size_t whole_bytes,
                     uint64_t message_bytes, InferMessage* message);

  // Valid as long as the message.
  TensorForms forms() const { return forms_.View(); }

  bool WantsBinary(absl::string_view output) const;

  // Releases the memory of the tensors once nobody reads the payloads any more. The message's
  // names, ids and parameters stay valid; another thread may read them meanwhile.
  void DropPayloads();

  // Releases the rest, once nobody reads the message any more. REQUIRES: no DropPayloads() runs.
  void DropFields();

  // Forgets the request. Read() does it too.
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
  std::string copied_;  // tensors from JSON; payloads are views of it and of body_
  std::deque<std::string> texts_;
  std::deque<Shape> shapes_;
  std::deque<ParameterMap> parameters_;  // tensors' parameters; forms_ has views of them
  TensorFormLists forms_;
  std::vector<BinaryChoice> choices_;  // for outputs that state a choice
  bool binary_by_default_ = false;
};

}  // namespace mpsd
