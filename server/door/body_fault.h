// BodyFault: the answer to a request whose body did not come.
#pragma once

#include "absl/status/status.h"
#include "server/http/http_call.h"

namespace mpsd {

// A status, and an HTTP code if that says more than the status; else 0. A value.
struct BodyFault {
  absl::Status status;
  int http_code = 0;
};

// The client's answer; OK for kWhole. Pure.
BodyFault FaultOf(BodyEnd body);

}  // namespace mpsd
