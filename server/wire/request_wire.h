// RequestWire: reads a ModelInferRequest off the wire without copying its tensors.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/inference.pb.h"
#include "server/request/infer_message.h"
#include "server/wire/request_parameters.h"
#include "server/wire/tensor_forms.h"

namespace mpsd {

// Step 2 of a request, the first reader of its bytes. It walks the top level of the message by
// hand: it leaves raw_input_contents where they lie in the transport's buffers, copies all other
// fields together, and has protobuf parse those.
//
//   the transport's slices  | name | inputs… | raw ~~~~~~~~|~~~~~~~~~~ | id | raw ~~~ |
//   fields_                 | name | inputs… | id |             parsed by protobuf, then described
//   raw_                      views of the ~ bytes: a Payload of two pieces, and one of one piece
//
// Nothing is believed: whatever the bytes are, memory stays bounded. Besides the slices, which gRPC
// bounds by limits.message, a request takes at most
//   1. kMaxRequestFieldBytes for all that is not a tensor's contents,
//   2. `message_bytes` for typed contents once they are parsed, measured before they are,
//   3. kMaxTensors + 1 each of inputs, outputs and raw contents: one more than is allowed, so that
//      the validator sees the excess and refuses it. Those beyond are dropped unparsed.
// The buffers of a request with little beside its tensors are kept for the next one, so that a call
// that is used again allocates next to nothing.
//
// Checks that the bytes are a message, and that parameters have the types of the protocol; a fault
// of a parameter goes into the message, and Validate() refuses it in its turn. Whether the request
// fits its model is decided in admit/. Owned by a call and used again for its next request.
// Lives on the call's thread, except for DropBuffers().
class RequestWire {
 public:
  // Fills `message`, whose views are valid until the next Read() or Clear(). INVALID_ARGUMENT when
  // the bytes are no ModelInferRequest. RESOURCE_EXHAUSTED when the fields beside the tensors'
  // contents take more than kMaxRequestFieldBytes, or typed contents would take more than
  // `message_bytes` of memory.
  absl::Status Read(const grpc::ByteBuffer& bytes, uint64_t message_bytes, InferMessage* message);

  // The outputs that the client wants as classes, and the tensors that lie in the client's own
  // memory. Inputs among them have no payload yet: RequestRegions gives them one. Valid as long as
  // the message.
  TensorForms forms() const { return forms_.View(); }

  // Forgets the request and releases the transport's buffers. Done by Read() too.
  void Clear();

  // Releases the memory of the tensors, once nobody reads the payloads any more. Names, ids and
  // parameters of the message stay valid; another thread may read them meanwhile.
  void DropBuffers();

 private:
  // Sorts the top level of `slices_` into `fields_` and `raw_`.
  absl::Status Split();
  absl::Status CheckSize(uint64_t message_bytes) const;
  void Describe(InferMessage* message);
  void DescribeInput(const inference::ModelInferRequest::InferInputTensor& input,
                     InferMessage* message);
  void DescribeOutputs(InferMessage* message);

  std::vector<grpc::Slice> slices_;  // the message; payloads are views of it
  std::string fields_;               // the bytes of all fields but the raw contents
  std::vector<Payload> raw_;         // at most kMaxTensors + 1 are kept
  uint32_t raw_count_ = 0;           // all of them, those not kept included
  bool is_large_ = false;            // its memory is not kept for the next request
  inference::ModelInferRequest parsed_;
  TensorFormLists forms_;
  std::vector<std::string> typed_;  // typed contents, as raw bytes; payloads are views of it
};

}  // namespace mpsd
