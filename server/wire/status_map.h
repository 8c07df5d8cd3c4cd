// The one place where our Status becomes gRPC's.
#pragma once

#include <grpcpp/support/status.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// Whose codes clients are to meet where servers of the protocol differ.
enum class StatusStyle {
  kOwn,
  // A full queue is UNAVAILABLE, and so is every time-out: Triton has them in its queue alone,
  // with the same text.
  kTriton,
};

// Cuts an error's text to 2 KiB, at the end of a character, and ends it in "..." then. A text that
// quotes what a client sent may be of any length, but travels in a header of the answer, of which
// clients accept a few KiB. Drops nothing else. Pure.
std::string CutToHeaderLimit(absl::string_view text);

// The codes are numbered alike. Our texts are made for clients already. Payloads of the status
// whose URL is that of a message become details of a google.rpc.Status. Thread-safe.
grpc::Status ToGrpcStatus(const absl::Status& status, StatusStyle style);

}  // namespace mpsd
