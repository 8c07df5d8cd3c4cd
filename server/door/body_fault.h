// BodyFault: the answer to a request whose body did not come.
#pragma once

#include "absl/status/status.h"
#include "server/http/http_call.h"

namespace mpsd {

// The code is 0 unless it says more than the status.
struct BodyFault {
  absl::Status status;
  int http_code = 0;
};

// OK for kWhole. Pure.
BodyFault FaultOf(BodyEnd body);

}  // namespace mpsd
