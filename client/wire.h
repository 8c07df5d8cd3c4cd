// wire: the client's structs as messages of the protocol, and back. For client.cc alone: programs
// that use the client see no generated code. Pure functions, all thread-safe.
//
//   InferRequest    ──ToWire──▶     ModelInferRequest    raw contents, or a region's name and range
//   InferReply      ◀──FromWire──   ModelInferResponse   the same; typed contents are not read
//   ModelMetadata   ◀──FromWire──   ModelMetadataResponse
//   DaemonStatus    ◀──FromWire──   StatusReply
//
// A server may be anybody's, so an answer is checked before it is believed.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/client.h"
#include "proto/control.pb.h"
#include "proto/inference.pb.h"

namespace mpsd::client {

// Copies the tensors' bytes, so the request may go once this returns. INVALID_ARGUMENT when an
// input has no valid datatype; everything else is for the server to refuse.
absl::StatusOr<inference::ModelInferRequest> ToWire(const InferRequest& request);

// Moves the tensors' bytes out of `response`. INTERNAL as of CheckOutput(), or where names and
// contents differ in number.
absl::StatusOr<InferReply> FromWire(inference::ModelInferResponse&& response);

// Cannot fail: a datatype that this client does not know is kInvalid.
ModelMetadata FromWire(const inference::ModelMetadataResponse& response);

// Cannot fail: a field that an older daemon does not send keeps its default.
DaemonStatus FromWire(const control::v1::StatusReply& reply);

}  // namespace mpsd::client
