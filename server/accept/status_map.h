// The one place where our Status becomes gRPC's.
#pragma once

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace mpsd {

// Whose codes clients are to meet where servers of the protocol differ.
enum class StatusStyle {
  kOwn,
  kTriton,  // a full queue and a time-out in it are UNAVAILABLE
};

// The codes are numbered alike. Our texts are made for clients already. Payloads of the status
// whose URL is that of a message become details of a google.rpc.Status. Thread-safe.
grpc::Status ToGrpcStatus(const absl::Status& status, StatusStyle style);

}  // namespace mpsd
