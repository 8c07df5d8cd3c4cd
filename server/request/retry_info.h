// RetryInfo: tells a refused client when to try again, in the form that gRPC's clients read.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace mpsd {

inline constexpr absl::string_view kRetryInfoType = "type.googleapis.com/google.rpc.RetryInfo";

// `status` with a google.rpc.RetryInfo as its payload. Pure.
absl::Status WithRetryAfter(absl::Status status, int64_t delay_ns);

// `status` with `text` for its own. Keeps the code and the payloads, so that a client still learns
// when to try again. Pure.
absl::Status WithText(const absl::Status& status, absl::string_view text);

// RESOURCE_EXHAUSTED by something that passes soon, such as copies under way or answers being read.
// Nobody knows when; the client is told to try again in 100 ms. Pure.
absl::Status Busy(absl::string_view text);

// The delay in the payload that WithRetryAfter() wrote. Nothing when there is none, or it is
// malformed. Pure.
std::optional<int64_t> RetryAfterNs(const absl::Status& status);

}  // namespace mpsd
