// NoWorkerInTime: the ending of a request that no worker can serve before its deadline.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace mpsd {

inline absl::Status NoWorkerInTime(absl::string_view model) {
  return absl::UnavailableError(
      absl::StrCat("Request for model '", model,
                   "' is not at ready state: no worker can serve it before the deadline"));
}

}  // namespace mpsd
