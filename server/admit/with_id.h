// The request's own id in front of what is said about it.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/request/with_text.h"

namespace mpsd {

// Only errors of the request itself and a full queue say which request they are about: clients of
// the protocol know them so. Without an id, or without an error, the status is as it was.
inline absl::Status WithId(const absl::Status& status, absl::string_view id) {
  if (status.ok() || id.empty()) return status;
  return WithText(status, absl::StrCat("[request id: ", id, "] ", status.message()));
}

}  // namespace mpsd
