// wire: the client's structs as messages of the protocol, and back. For client.cc alone: programs
// that use the client see no generated code. Pure functions, all thread-safe.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/client.h"
#include "proto/control.pb.h"
#include "proto/inference.pb.h"

namespace mpsd::client {

// Copies the tensors' bytes. INVALID_ARGUMENT when an input has no valid datatype.
absl::StatusOr<inference::ModelInferRequest> ToWire(const InferRequest& request);

// Moves the tensors' bytes out of `response`. INTERNAL when datatypes, shapes and contents
// contradict each other.
absl::StatusOr<InferReply> FromWire(inference::ModelInferResponse&& response);

ModelMetadata FromWire(const inference::ModelMetadataResponse& response);

DaemonStatus FromWire(const control::v1::StatusReply& reply);

}  // namespace mpsd::client
