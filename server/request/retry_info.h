// RetryInfo: tells a refused client when to try again, in the form that gRPC's clients read.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// A refusal for lack of room is no fault of the request: the same request may be taken a moment
// later. Clients with a retry policy read google.rpc.RetryInfo in the status to learn when, instead
// of coming again at once and all together. An absl::Status carries it as a payload, so that the
// code which refuses needs no gRPC; ToGrpcStatus() makes a status detail of it.
//
//   return Busy("too many inputs in shared memory are being copied");
//   return WithRetryAfter(absl::ResourceExhaustedError("Exceeds maximum queue size"), delay_ns);

inline constexpr absl::string_view kRetryInfoType = "type.googleapis.com/google.rpc.RetryInfo";

// `status` with a google.rpc.RetryInfo as its payload, in place of one that it has.
// Pure.
absl::Status WithRetryAfter(absl::Status status, int64_t delay_ns);

// `status` with `text` for its own. Keeps the code and the payloads, so that a client still learns
// when to try again. Pure.
absl::Status WithText(const absl::Status& status, absl::string_view text);

// RESOURCE_EXHAUSTED, because of something that passes soon, such as copies under way or answers
// being read. Nobody knows when; the client is told to try again in 100 ms. Pure.
absl::Status Busy(absl::string_view text);

// The delay in the payload that WithRetryAfter() wrote. Nothing when there is none, or it is
// malformed. Pure.
std::optional<int64_t> RetryAfterNs(const absl::Status& status);

}  // namespace mpsd
