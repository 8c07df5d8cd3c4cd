// RetryInfo: tells a refused client when to try again.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// google.rpc.RetryInfo as a payload of an absl::Status, so that refusing code needs no gRPC;
// TellStatus() makes a status detail of it. Clients' retry policies read it.

inline constexpr absl::string_view kRetryInfoType = "type.googleapis.com/google.rpc.RetryInfo";

// Replaces any other. Pure.
absl::Status WithRetryAfter(absl::Status status, int64_t delay_ns);

// Keeps code and payloads. Pure.
absl::Status WithText(const absl::Status& status, absl::string_view text);

// `status` with the request's id before its text. Clients of the protocol expect the id in refusals
// of the request itself and of a full queue, and nowhere else. Keeps payloads. Pure.
absl::Status WithId(const absl::Status& status, absl::string_view id);

// RESOURCE_EXHAUSTED because of something that passes soon. The client is told to try again in
// 100 ms. Pure.
absl::Status Busy(absl::string_view text);

// Nothing if it is missing or malformed. Pure.
std::optional<int64_t> RetryAfterNs(const absl::Status& status);

}  // namespace mpsd
