// RetryInfo: tells a refused client when to try again, in gRPC's form.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// A refusal for lack of room is no fault of the request, which may be accepted a moment later.
// Clients with a retry policy read google.rpc.RetryInfo in the status to learn when, instead of all
// coming again at once. An absl::Status carries it as a payload, so that refusing code needs no
// gRPC; TellStatus() makes a status detail of it.
//
//   return Busy("too many inputs in shared memory are being copied");
//   return WithRetryAfter(absl::ResourceExhaustedError("Exceeds maximum queue size"), delay_ns);

inline constexpr absl::string_view kRetryInfoType = "type.googleapis.com/google.rpc.RetryInfo";

// `status` with a google.rpc.RetryInfo as its payload, replacing any other. Pure.
absl::Status WithRetryAfter(absl::Status status, int64_t delay_ns);

// `status` with another text. Keeps the code and the payloads, and so the time to try again. Pure.
absl::Status WithText(const absl::Status& status, absl::string_view text);

// RESOURCE_EXHAUSTED because of something that passes soon, such as copies under way or unread
// answers. Nobody knows when; the client is told to try again in 100 ms. Pure.
absl::Status Busy(absl::string_view text);

// The delay in the payload of WithRetryAfter(). Nothing if it is missing or malformed. Pure.
std::optional<int64_t> RetryAfterNs(const absl::Status& status);

}  // namespace mpsd
