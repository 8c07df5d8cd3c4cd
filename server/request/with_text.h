// A status in other words.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// Its code stays, and what it carries besides its text: when a call may be tried again.
inline absl::Status WithText(const absl::Status& status, absl::string_view text) {
  absl::Status other(status.code(), text);
  status.ForEachPayload([&other](absl::string_view type, const absl::Cord& payload) {
    other.SetPayload(type, payload);
  });
  return other;
}

}  // namespace mpsd
