// RequestWire: reads a ModelInferRequest off the wire without copying its tensors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/inference.pb.h"
#include "server/bodies/grpc/request_parameters.h"
#include "server/bodies/grpc/tensor_forms.h"
#include "server/request/infer_message.h"

namespace mpsd {

// Step 2 of a request, the first reader of its bytes. It walks the top level of the message by
// hand. raw_input_contents stay where they are; protobuf parses a copy of all other fields.
//
//   the message  | name | inputs… | raw ~~~~~~~~~~~~~~~~~~ | id | raw ~~~ |
//   fields_      | name | inputs… | id |                  parsed by protobuf, then described
//
//   raw_           views of the ~ bytes, a Payload of one piece each
//
// The bytes are not trusted, and memory stays bounded whatever they are. The transport bounds the
// message (limits.message). These are the bounds of the rest of a request:
//   1. Everything except tensors' contents: kMaxRequestFieldBytes.
//   2. Parsed typed contents, measured before they are parsed: `message_bytes`.
//   3. Inputs, outputs and raw contents: kMaxTensors + 1 each, one more than allowed. So the
//      validator sees the excess and refuses it. The rest are dropped unparsed.
//
// A request with few bytes beside its tensors leaves its buffers to the next one, so that a reused
// call allocates next to nothing.
//
// Checks that the bytes are a message, and that parameters have the types of the protocol. A
// parameter's fault goes into the message, and Validate() refuses it later. Whether the request
// fits its model is decided in admit/. Owned by a call and reused for its next request. Lives on
// the call's thread, except for DropBuffers() and DropFields().
class RequestWire {
 public:
  // Fills `message`, whose views are valid until the next Read() or Clear(). The caller keeps
  // `bytes` until DropBuffers() or Clear(). INVALID_ARGUMENT if the bytes are no ModelInferRequest.
  // RESOURCE_EXHAUSTED if the fields beside the tensors' contents take more than
  // kMaxRequestFieldBytes, or typed contents would take more than `message_bytes` of memory.
  absl::Status Read(absl::string_view bytes, uint64_t message_bytes, InferMessage* message);

  // The same for a message of which `bytes` are only the beginning; the whole has `whole_bytes`.
  // Reads it if everything is there except the end of the last raw contents, with which the message
  // ends. The last input's payload then has arriving bytes. False for any other beginning: once the
  // message is whole, Read() reads it.
  bool ReadBeginning(absl::string_view bytes, uint64_t whole_bytes, uint64_t message_bytes,
                     InferMessage* message);

  // Inputs in the client's memory have no payload yet: RequestRegions sets it. Valid as long as the
  // message.
  TensorForms forms() const { return forms_.View(); }

  // Forgets the request. Read() does it too.
  void Clear();

  // Releases the memory of the tensors once nobody reads the payloads any more. The message's
  // names, ids and parameters stay valid; another thread may read them meanwhile.
  void DropBuffers();

  // Releases the rest of a large request, once nobody reads the message any more. REQUIRES: no
  // DropBuffers() runs.
  void DropFields();

 private:
  // Sorts the top level of the message into `fields_` and `raw_`. Returns the bytes from the first
  // field on that cannot be read; none if there is no such field.
  absl::string_view Split(absl::string_view bytes);
  // Takes the raw contents that begin so, and of which `missing_bytes` are missing. False if these
  // are not the last bytes.
  bool TakeArriving(absl::string_view bytes, uint64_t missing_bytes);
  absl::Status Parse(uint64_t message_bytes, InferMessage* message);
  absl::Status CheckSize(uint64_t message_bytes) const;
  void Describe(InferMessage* message);
  void DescribeInput(const inference::ModelInferRequest::InferInputTensor& input,
                     InferMessage* message);
  void DescribeOutputs(InferMessage* message);

  std::string fields_;        // the bytes of all fields but the raw contents
  std::vector<Payload> raw_;  // at most kMaxTensors + 1 are kept
  uint32_t raw_count_ = 0;    // all of them, kept or not
  bool is_large_ = false;     // the memory is not kept for the next request
  inference::ModelInferRequest parsed_;
  TensorFormLists forms_;
  std::vector<std::string> typed_;  // typed contents as raw bytes; payloads are views of it
};

}  // namespace mpsd
