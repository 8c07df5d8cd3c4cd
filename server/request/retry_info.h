// RetryInfo: when a client that was refused may try again, as gRPC's clients read it.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace mpsd {

inline constexpr absl::string_view kRetryInfoType = "type.googleapis.com/google.rpc.RetryInfo";

// `status` with a google.rpc.RetryInfo as its payload. Pure.
absl::Status WithRetryAfter(absl::Status status, int64_t delay_ns);

// The delay that such a payload says; nothing where there is none, or it is not ours. Pure.
std::optional<int64_t> RetryAfterNs(const absl::Status& status);

}  // namespace mpsd
