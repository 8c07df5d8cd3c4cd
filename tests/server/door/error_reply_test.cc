#include "server/door/error_reply.h"

#include <gtest/gtest.h>

#include "proto/base/clock.h"
#include "server/request/retry_info.h"

namespace mpsd {
namespace {

int CodeOf(absl::StatusCode code, StatusStyle style = StatusStyle::kOwn) {
  return HttpCodeOf(absl::Status(code, "text"), style);
}

TEST(ErrorReply, CodesOfHttp) {
  EXPECT_EQ(CodeOf(absl::StatusCode::kInvalidArgument), 400);
  EXPECT_EQ(CodeOf(absl::StatusCode::kAlreadyExists), 400);
  EXPECT_EQ(CodeOf(absl::StatusCode::kUnauthenticated), 401);
  EXPECT_EQ(CodeOf(absl::StatusCode::kPermissionDenied), 403);
  EXPECT_EQ(CodeOf(absl::StatusCode::kNotFound), 404);
  EXPECT_EQ(CodeOf(absl::StatusCode::kFailedPrecondition), 409);
  EXPECT_EQ(CodeOf(absl::StatusCode::kResourceExhausted), 429);
  EXPECT_EQ(CodeOf(absl::StatusCode::kCancelled), 499);
  EXPECT_EQ(CodeOf(absl::StatusCode::kUnimplemented), 501);
  EXPECT_EQ(CodeOf(absl::StatusCode::kUnavailable), 503);
  EXPECT_EQ(CodeOf(absl::StatusCode::kDeadlineExceeded), 504);
  EXPECT_EQ(CodeOf(absl::StatusCode::kInternal), 500);
}

TEST(ErrorReply, CodesOfTriton) {
  EXPECT_EQ(CodeOf(absl::StatusCode::kDeadlineExceeded, StatusStyle::kTriton), 503);
  EXPECT_EQ(
      HttpCodeOf(absl::ResourceExhaustedError("Exceeds maximum queue size"), StatusStyle::kTriton),
      503);
  EXPECT_EQ(CodeOf(absl::StatusCode::kResourceExhausted, StatusStyle::kTriton), 429);
}

TEST(ErrorReply, TheTextIsJson) {
  const HttpReply reply = ErrorReply(absl::NotFoundError("no \"m\""), StatusStyle::kOwn);
  EXPECT_EQ(reply.status, 404);
  EXPECT_EQ(reply.body, "{\"error\":\"no \\\"m\\\"\"}");
  EXPECT_EQ(reply.headers, "");
}

TEST(ErrorReply, SaysWhenToComeAgain) {
  const absl::Status busy = absl::ResourceExhaustedError("busy");
  EXPECT_EQ(ErrorReply(WithRetryAfter(busy, 1), StatusStyle::kOwn).headers, "Retry-After: 1\r\n");
  EXPECT_EQ(ErrorReply(WithRetryAfter(busy, kNsPerSecond + 1), StatusStyle::kOwn).headers,
            "Retry-After: 2\r\n");
}

TEST(ErrorReply, SaysHowToAuthenticate) {
  EXPECT_EQ(ErrorReply(absl::UnauthenticatedError("who?"), StatusStyle::kOwn).headers,
            "WWW-Authenticate: Bearer\r\n");
}

TEST(ErrorReply, ATextIsCutAsForGrpc) {
  const HttpReply reply =
      ErrorReply(absl::InvalidArgumentError(std::string(1 << 20, 'x')), StatusStyle::kOwn);
  EXPECT_LT(reply.body.size(), size_t{8} << 10);
}

}  // namespace
}  // namespace mpsd
