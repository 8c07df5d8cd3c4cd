#include "server/door/body_fault.h"

#include "server/exchange/request_ending.h"
#include "server/request/retry_info.h"

namespace mpsd {

BodyFault FaultOf(BodyEnd body) {
  switch (body) {
    case BodyEnd::kWhole:
      return {};
    case BodyEnd::kTooLarge:
      return {absl::ResourceExhaustedError("the body of the request is too large"), 413};
    case BodyEnd::kTooMany:
      return {Busy("the requests that arrive take too much memory"), 0};
    case BodyEnd::kTooSlow:
      return {absl::DeadlineExceededError("the body of the request did not come in time"), 408};
    case BodyEnd::kMalformed:
      return {absl::InvalidArgumentError("the body of the request is malformed"), 0};
    case BodyEnd::kClientLeft:
      break;
  }
  return {CallCancelled(), 0};
}

}  // namespace mpsd
