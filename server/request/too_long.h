// TooLong: a text with too many tokens, or what else is too large for its route.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"

namespace mpsd {

inline constexpr absl::string_view kTooLongType = "mpsd/too-long";

// INVALID_ARGUMENT, marked for this process: HTTP has its own code for too large. Pure.
inline absl::Status TooLong(absl::string_view text) {
  absl::Status status = absl::InvalidArgumentError(text);
  status.SetPayload(kTooLongType, absl::Cord());
  return status;
}

// Also through WithText(). Pure.
inline bool IsTooLong(const absl::Status& status) {
  return status.GetPayload(kTooLongType).has_value();
}

}  // namespace mpsd
