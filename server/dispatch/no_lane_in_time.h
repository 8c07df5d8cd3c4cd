// NoLaneInTime: how a request ends that is foreseen to be answered after its deadline.
#pragma once

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/dispatch/completion_rate.h"
#include "server/request/retry_info.h"

namespace mpsd {

inline constexpr absl::string_view kNoLaneInTime =
    "no lane is free in time for the request's deadline";

// `late_ns`: by how much it would miss its deadline, after which it may be asked again.
inline absl::Status NoLaneInTime(absl::string_view text, int64_t late_ns) {
  return WithRetryAfter(
      absl::ResourceExhaustedError(text),
      std::clamp(late_ns, CompletionRate::kMinRetryNs, CompletionRate::kMaxRetryNs));
}

}  // namespace mpsd
