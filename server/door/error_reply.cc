#include "server/door/error_reply.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "proto/base/clock.h"
#include "server/bodies/json/json_text.h"
#include "server/request/retry_info.h"

namespace mpsd {
int HttpCodeOf(const absl::Status& status, StatusStyle style) {
  switch (ToldCode(status, style)) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kOutOfRange:
      return 400;
    case absl::StatusCode::kUnauthenticated:
      return 401;
    case absl::StatusCode::kPermissionDenied:
      return 403;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kFailedPrecondition:
      return 409;
    case absl::StatusCode::kResourceExhausted:
      return 429;
    case absl::StatusCode::kCancelled:
      return 499;
    case absl::StatusCode::kUnimplemented:
      return 501;
    case absl::StatusCode::kUnavailable:
      return 503;
    case absl::StatusCode::kDeadlineExceeded:
      return 504;
    default:
      return 500;
  }
}

HttpReply ErrorReply(const absl::Status& status, StatusStyle style, int code) {
  HttpReply reply(code != 0 ? code : HttpCodeOf(status, style), kJsonType,
                  ErrorJson(CutToHeaderLimit(status.message())));
  if (reply.status == 401) reply.AddHeader("WWW-Authenticate", "Bearer");
  if (const std::optional<int64_t> after_ns = RetryAfterNs(status); after_ns.has_value()) {
    const int64_t seconds = (*after_ns + kNsPerSecond - 1) / kNsPerSecond;
    reply.AddHeader("Retry-After", absl::StrCat(std::max<int64_t>(seconds, 1)));
  }
  return reply;
}

}  // namespace mpsd
