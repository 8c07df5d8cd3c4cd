#include "client/web/reply_status.h"

#include <gtest/gtest.h>

namespace mpsd::client {
namespace {

TEST(ReplyStatus, AnAnswerIsNoError) { EXPECT_TRUE(ReplyStatus(200, "{\"error\":\"a\"}").ok()); }

TEST(ReplyStatus, AReplyBeforeTheAnswerIsNone) {
  EXPECT_EQ(ReplyStatus(100, ""), absl::UnknownError("the server answered HTTP 100"));
  EXPECT_FALSE(ReplyStatus(199, "").ok());
}

TEST(ReplyStatus, HasTheServersText) {
  EXPECT_EQ(ReplyStatus(400, R"({"error":"a"})"), absl::InvalidArgumentError("a"));
  EXPECT_EQ(ReplyStatus(401, R"({"error":{"message":"b","code":null}})"),
            absl::UnauthenticatedError("b"));
  EXPECT_EQ(ReplyStatus(424, R"({"error":"c","error_type":"Backend"})"), absl::InternalError("c"));
  EXPECT_EQ(ReplyStatus(429, R"({"message":"d"})"), absl::ResourceExhaustedError("d"));
}

TEST(ReplyStatus, HasTheCodeWhereThereIsNoText) {
  for (const char* body : {"", "<html>", "[]", "{}", R"({"error":{"message":1}})", "\xff"}) {
    EXPECT_EQ(ReplyStatus(502, body), absl::UnavailableError("the server answered HTTP 502"))
        << body;
  }
  EXPECT_EQ(
      ReplyStatus(404, "<html>"),
      absl::NotFoundError("the server answered HTTP 404; it may be a server of another kind"));
  EXPECT_EQ(ReplyStatus(302, "").code(), absl::StatusCode::kUnknown);
}

}  // namespace
}  // namespace mpsd::client
