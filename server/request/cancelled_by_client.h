// CancelledByClient: the ending of a request that its client has given up.
#pragma once

#include "absl/status/status.h"

namespace mpsd {

inline absl::Status CancelledByClient() {
  return absl::CancelledError("the client cancelled the call");
}

}  // namespace mpsd
