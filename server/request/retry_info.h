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

// `status` with `text` for its own. Keeps the code and the payloads, so that a client still learns
// when to try again. Pure.
absl::Status WithText(const absl::Status& status, absl::string_view text);

// RESOURCE_EXHAUSTED by what passes soon though nobody can say when: copies that are under way,
// answers that are being read. Pure.
absl::Status Busy(absl::string_view text);

// The delay that such a payload says; nothing where there is none, or it is not ours. Pure.
std::optional<int64_t> RetryAfterNs(const absl::Status& status);

}  // namespace mpsd
