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
#include "server/request/infer_message.h"
#include "server/rest/body_padding.h"
#include "server/wire/request_parameters.h"
#include "server/wire/tensor_forms.h"

namespace mpsd {

// How many bytes of a body are JSON: the value of the header Inference-Header-Content-Length, which
// says that binary tensors follow; all of them where the client sent no such header (an empty
// `header`). INVALID_ARGUMENT when the header is no number from 0 to the body's size. Pure.
absl::StatusOr<size_t> JsonBytes(absl::string_view header, size_t body_bytes);

// Step 2 of a request that came over HTTP, beside RequestWire for gRPC: JSON, with Triton's
// extensions, becomes an InferMessage.
//
//   | {"inputs":[{"name","shape",…}],…} | binary tensor | binary tensor | padding |
//   |<--------- json_bytes ------------>|
//
//   where an input's elements lie                            what its payload is
//   "data": [[1,2],[3]] beside the name                      a copy, made while it is read
//   behind the JSON, parameter "binary_data_size"            a view of the body
//   in the client's region, "shared_memory_region"           RequestRegions gives it one
//
// An input says exactly one of the three. Binary tensors lie in the order of the inputs. Outputs
// come back as JSON unless the client wants them binary: see WantsBinary(). Unknown fields are
// checked and ignored; a field that comes twice is refused.
//
// Nothing is believed, and memory stays bounded, besides the body:
//   1. copies of tensors have at most `message_bytes`,
//   2. names, shapes and parameters kMaxRequestFieldBytes, and there are kMaxTensors of each kind,
//   3. the reader of JSON has some 4 bytes for each brace, comma, colon and value of the text, and
//      the size of its longest strings, and only until Read() returns. The caller bounds the text.
//
// Checks what RequestWire checks; whether the request fits its model is decided in admit/. Owned by
// the transport of one request, and used again for the next. Lives on the call's thread.
class InferBody {
 public:
  using Shape = absl::InlinedVector<int64_t, 4>;

  // Fills `message`, but for the model and the version, which stand in the URL and are set by the
  // caller before: errors name the model. The views are valid until the next Read() or Clear().
  // A body that has kBodyPadding bytes of capacity to spare is not copied. INVALID_ARGUMENT, or
  // RESOURCE_EXHAUSTED for what exceeds a bound. REQUIRES: json_bytes <= body.size().
  absl::Status Read(std::string body, size_t json_bytes, uint64_t message_bytes,
                    InferMessage* message);

  // Valid as long as the message.
  TensorForms forms() const { return forms_.View(); }

  // Whether the client wants that output behind the JSON.
  bool WantsBinary(absl::string_view output) const;

  // Releases the memory of the tensors, once nobody reads the payloads any more. Names, ids and
  // parameters of the message stay valid; another thread may read them meanwhile.
  void DropPayloads();

  // Forgets the request. Done by Read() too.
  void Clear();

 private:
  friend class BodyKeeper;

  struct BinaryChoice {
    absl::string_view output;
    bool binary = false;
  };

  std::string body_;
  std::string copied_;  // the tensors that were JSON; payloads are views of it and of body_
  std::deque<std::string> texts_;
  std::deque<Shape> shapes_;
  std::deque<ParameterMap> parameters_;  // those of tensors that forms_ has views of
  TensorFormLists forms_;
  std::vector<BinaryChoice> choices_;  // of the outputs that say something
  bool binary_by_default_ = false;
};

}  // namespace mpsd
