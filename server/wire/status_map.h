// ToGrpcStatus: the one place where our Status becomes gRPC's.
#pragma once

#include <grpcpp/support/status.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// Whose codes clients get where servers of the protocol differ. A value of the config, `compat`.
enum class StatusStyle {
  kOwn,
  // Full queues and time-outs are UNAVAILABLE, as Triton has it.
  kTriton,
};

// The code of `status` as clients of this style are told it. Pure.
absl::StatusCode ToldCode(const absl::Status& status, StatusStyle style);

// Cuts an error's text to 2 KiB, at the end of a character, and ends it in "..." then. A text that
// quotes what a client sent may be of any length, but travels in a header of the answer, of which
// clients accept a few KiB. Drops nothing else. Pure.
std::string CutToHeaderLimit(absl::string_view text);

// Called where a call ends, and nowhere else: all code before it speaks absl::Status and knows no
// gRPC.
//
//   absl::Status                      grpc::Status
//   code                              the same code, which has the same number in both; see also
//                                     StatusStyle
//   text                              the same, cut to the header limit
//   payloads whose URL is a message's the details of a google.rpc.Status, such as a RetryInfo
//   other payloads                    dropped
//
// Texts of our statuses are written for clients, so nothing is removed from them: a text that names
// a file or an errno must be cleaned before (WithoutPathsAndErrnos). Pure.
grpc::Status ToGrpcStatus(const absl::Status& status, StatusStyle style);

}  // namespace mpsd
