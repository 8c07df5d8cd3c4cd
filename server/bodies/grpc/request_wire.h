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

// Walks the top level of the message by hand. raw_input_contents stay where they are; protobuf
// parses a copy of all other fields.
//
//   the message  | name | inputs… | raw ~~~~~~~~~~~~~~~~~~ | id | raw ~~~ |
//   fields_      | name | inputs… | id |                  parsed by protobuf, then described
//
//   raw_           views of the ~ bytes, a Payload of one piece each
//
// The bytes are not trusted. The transport bounds the message (limits.message), and here are
// bounded:
//   1. Everything except tensors' contents: kMaxRequestFieldBytes.
//   2. Parsed typed contents, measured before they are parsed: `message_bytes`.
//   3. Inputs, outputs and raw contents: kMaxTensors + 1 each, so that the validator sees the
//      excess and refuses it. The rest are dropped unparsed.
//
// A small request leaves its buffers to the next one, so that a reused call allocates next to
// nothing.
//
// A parameter of a wrong type is a fault in the message, which Validate() refuses. Whether the
// request fits its model is decided in admit/. Owned by a call. Lives on the call's thread, except
// DropBuffers() and DropFields().
class RequestWire {
 public:
  // Fills `message`, whose views are valid until the next Read() or Clear(). The caller keeps
  // `bytes` until DropBuffers() or Clear(). INVALID_ARGUMENT if the bytes are no ModelInferRequest;
  // RESOURCE_EXHAUSTED beyond bounds 1 and 2.
  absl::Status Read(absl::string_view bytes, uint64_t message_bytes, InferMessage* message);

  // The same for the beginning of a message of `whole_bytes`. False unless only the end of the last
  // raw contents is missing; its payload then has arriving bytes.
  bool ReadBeginning(absl::string_view bytes, uint64_t whole_bytes, uint64_t message_bytes,
                     InferMessage* message);

  // Valid as long as the message. RequestRegions gives inputs in the client's memory their
  // payloads.
  TensorForms forms() const { return forms_.View(); }

  // Read() does it too.
  void Clear();

  // Frees the tensors once nobody reads the payloads. Another thread may meanwhile read the
  // message's names, ids and parameters.
  void DropBuffers();

  // Frees the rest of a large request, once nobody reads the message. REQUIRES: no DropBuffers()
  // runs.
  void DropFields();

 private:
  // Fills `fields_` and `raw_`. Returns the bytes from the first unreadable field on, or none.
  absl::string_view Split(absl::string_view bytes);
  // Takes the beginning of raw contents. False if these are not the last bytes.
  bool TakeArriving(absl::string_view bytes, uint64_t missing_bytes);
  absl::Status Parse(uint64_t message_bytes, InferMessage* message);
  absl::Status CheckSize(uint64_t message_bytes) const;
  void Describe(InferMessage* message);
  void DescribeInput(const inference::ModelInferRequest::InferInputTensor& input,
                     InferMessage* message);
  void DescribeOutputs(InferMessage* message);

  std::string fields_;        // all fields but the raw contents
  std::vector<Payload> raw_;  // the first kMaxTensors + 1
  uint32_t raw_count_ = 0;    // all of them
  bool is_large_ = false;     // memory is not kept for the next request
  inference::ModelInferRequest parsed_;
  TensorFormLists forms_;
  std::vector<std::string> typed_;  // payloads are views of these raw bytes
};

}  // namespace mpsd
