// wire: the client's structs as messages of the protocol, and back. Programs see no generated code.
// All pure and thread-safe.
//
//   InferRequest    ──ToWire──▶     ModelInferRequest    raw contents, or a region's name and range
//   InferReply      ◀──FromWire──   ModelInferResponse   the same; typed contents are not read
//   ModelMetadata   ◀──FromWire──   ModelMetadataResponse
//   DaemonStatus    ◀──FromWire──   StatusReply
//
// A server may be anybody's, so answers are checked.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/client.h"
#include "proto/control.pb.h"
#include "proto/inference.pb.h"

namespace mpsd::client {

// Copies the tensors. INVALID_ARGUMENT when an input has no valid datatype.
absl::StatusOr<inference::ModelInferRequest> ToWire(const InferRequest& request);

// Moves the tensors. INTERNAL as CheckOutput(), or if names and contents differ in number.
absl::StatusOr<InferReply> FromWire(inference::ModelInferResponse&& response);

// An unknown datatype is kInvalid.
ModelMetadata FromWire(const inference::ModelMetadataResponse& response);

// A field that an older daemon does not send keeps its default.
DaemonStatus FromWire(const control::v1::StatusReply& reply);

}  // namespace mpsd::client
