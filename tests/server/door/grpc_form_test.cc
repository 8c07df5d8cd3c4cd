#include "server/door/grpc_form.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "server/request/retry_info.h"

namespace mpsd {
namespace {

constexpr int64_t kNow = 1000;

int64_t LeftNs(absl::string_view timeout) {
  const absl::StatusOr<CallDeadline> deadline = GrpcDeadline(timeout, kNow, 0);
  return deadline.ok() ? deadline->at_ns - kNow : -1;
}

TEST(GrpcForm, ATypeMayNameItsEncoding) {
  HttpRequest request;
  for (const char* const type :
       {"application/grpc", "application/grpc+proto", "application/grpc;charset=utf-8"}) {
    request.headers = {{"content-type", type}};
    EXPECT_TRUE(IsGrpc(request)) << type;
  }
  for (const char* const type : {"application/json", "application/grpc-web", ""}) {
    request.headers = {{"content-type", type}};
    EXPECT_FALSE(IsGrpc(request)) << type;
  }
}

TEST(GrpcForm, ATimeoutHasAUnit) {
  EXPECT_EQ(LeftNs("1H"), kMaxTimeoutNs);
  EXPECT_EQ(LeftNs("2M"), 120 * kNsPerSecond);
  EXPECT_EQ(LeftNs("3S"), 3 * kNsPerSecond);
  EXPECT_EQ(LeftNs("4m"), 4 * kNsPerMs);
  EXPECT_EQ(LeftNs("5u"), 5000);
  EXPECT_EQ(LeftNs("99999999n"), 99'999'999);
  EXPECT_EQ(LeftNs("99999999H"), kMaxTimeoutNs);
  EXPECT_EQ(LeftNs("0n"), 0);
}

TEST(GrpcForm, AnotherTextIsNoTimeout) {
  for (const char* const text : {"S", "1", "1s", "-1S", "+1S", " 1S", "1.5S", "123456789n"}) {
    EXPECT_EQ(LeftNs(text), -1) << text;
  }
}

TEST(GrpcForm, WithoutATimeoutTheDefaultHolds) {
  EXPECT_EQ(GrpcDeadline("", kNow, 7)->at_ns, kNow + 7);
  EXPECT_EQ(GrpcDeadline("", kNow, 7)->patience_ns, 7);
  EXPECT_EQ(GrpcDeadline("", kNow, 0)->at_ns, kNoDeadlineNs);
}

TEST(GrpcForm, AMessageComesBackAsItWent) {
  for (const std::string& message : {std::string(), std::string("abc"), std::string(70'000, 'x')}) {
    const HttpReply reply = GrpcReply(GrpcBody() + message);
    EXPECT_EQ(GrpcMessageOf(reply.body).value(), message);
    EXPECT_EQ(reply.trailers, "grpc-status: 0\r\n");
    EXPECT_FALSE(reply.tells_length);
  }
}

TEST(GrpcForm, ABodyIsOneMessage) {
  const std::string body = GrpcReply(GrpcBody() + "abc").body;
  EXPECT_TRUE(absl::IsInvalidArgument(GrpcMessageOf("").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(GrpcMessageOf(body.substr(0, 4)).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(GrpcMessageOf(body.substr(0, 7)).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(GrpcMessageOf(body + "d").status()));
  std::string compressed = body;
  compressed[0] = 1;
  EXPECT_TRUE(absl::IsUnimplemented(GrpcMessageOf(compressed).status()));
}

TEST(GrpcForm, AnErrorIsInTheHeaders) {
  const HttpReply reply = GrpcError(absl::NotFoundError("100 % no\nm\xc3\xbc"), StatusStyle::kOwn);
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "");
  EXPECT_EQ(reply.trailers, "");
  EXPECT_EQ(reply.headers, "grpc-status: 5\r\ngrpc-message: 100 %25 no%0Am%C3%BC\r\n");
}

TEST(GrpcForm, AnErrorHasItsDetails) {
  const absl::Status busy = WithRetryAfter(absl::ResourceExhaustedError("busy"), kNsPerSecond);
  const std::string headers = GrpcError(busy, StatusStyle::kOwn).headers;
  const size_t details = headers.find("grpc-status-details-bin: ");
  ASSERT_NE(details, std::string::npos);
  EXPECT_EQ(headers.find('=', details), std::string::npos);
}

TEST(GrpcForm, CodesOfTriton) {
  EXPECT_EQ(GrpcError(absl::DeadlineExceededError(""), StatusStyle::kTriton).headers.substr(0, 17),
            "grpc-status: 14\r\n");
}

}  // namespace
}  // namespace mpsd
