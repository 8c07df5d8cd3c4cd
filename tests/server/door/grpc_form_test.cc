#include "server/door/grpc_form.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "server/request/retry_info.h"
#include "tests/server/door/door_fixture.h"

namespace mpsd {
namespace {

constexpr int64_t kNow = 1000;

int64_t LeftNs(absl::string_view timeout) {
  const absl::StatusOr<CallDeadline> deadline = GrpcDeadline(timeout, kNow, 0);
  return deadline.ok() ? deadline->at_ns - kNow : -1;
}

GrpcKind KindOf(const std::string& type, bool has_trailers = true,
                const std::string& method = "POST") {
  FakeHttpCall call(method + " /a.B/C", absl::StrCat("content-type: ", type, "\r\n"), "");
  call.speaks_http2 = has_trailers;
  return GrpcKindOf(call);
}

TEST(GrpcForm, ATypeSaysTheKind) {
  for (const char* const more : {"", "+proto", ";charset=utf-8"}) {
    EXPECT_EQ(KindOf(absl::StrCat("application/grpc", more)), GrpcKind::kOwn) << more;
    EXPECT_EQ(KindOf(absl::StrCat("application/grpc-web", more)), GrpcKind::kWeb) << more;
    EXPECT_EQ(KindOf(absl::StrCat("application/grpc-web-text", more)), GrpcKind::kWebText) << more;
  }
  for (const char* const type : {"application/json", "application/grpc-webs", "application/grpcs",
                                 "application/grpc-text", ""}) {
    EXPECT_EQ(KindOf(type), GrpcKind::kNone) << type;
  }
}

TEST(GrpcForm, OnlyGrpcItselfNeedsTrailers) {
  EXPECT_EQ(KindOf("application/grpc", /*has_trailers=*/false), GrpcKind::kNone);
  EXPECT_EQ(KindOf("application/grpc-web", /*has_trailers=*/false), GrpcKind::kWeb);
  EXPECT_EQ(KindOf("application/grpc-web-text", /*has_trailers=*/false), GrpcKind::kWebText);
}

TEST(GrpcForm, ACallIsAPost) {
  EXPECT_EQ(KindOf("application/grpc", true, "GET"), GrpcKind::kNone);
  EXPECT_EQ(KindOf("application/grpc-web", true, "OPTIONS"), GrpcKind::kNone);
}

TEST(GrpcForm, ATimeoutHasAUnit) {
  EXPECT_EQ(LeftNs("1H"), kMaxTimeoutNs);
  EXPECT_EQ(LeftNs("6M"), kMaxTimeoutNs);
  EXPECT_EQ(LeftNs("2M"), 120 * kNsPerSecond - kNsPerMs);
  EXPECT_EQ(LeftNs("3S"), 3 * kNsPerSecond - kNsPerMs);
  EXPECT_EQ(LeftNs("8m"), 7 * kNsPerMs) << "a client that counts milliseconds has rounded up";
  EXPECT_EQ(LeftNs("2m"), 2 * kNsPerMs - kNsPerMs / 2);
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
    const GrpcMessage read = GrpcMessageOf(reply.body, BodyCoding::kPlain).value();
    EXPECT_EQ(read.bytes, message);
    EXPECT_FALSE(read.is_compressed);
    EXPECT_EQ(reply.trailers, "grpc-status: 0\r\n");
    EXPECT_FALSE(reply.tells_length);
  }
}

TEST(GrpcForm, ABodyIsOneMessage) {
  const std::string body = GrpcReply(GrpcBody() + "abc").body;
  for (const std::string& other :
       {std::string(), body.substr(0, 4), body.substr(0, 7), body + "d"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(GrpcMessageOf(other, BodyCoding::kPlain).status()));
  }
}

TEST(GrpcForm, AFlagHasItsMeaning) {
  EXPECT_FALSE(IsCompressed(0, BodyCoding::kPlain).value());
  EXPECT_FALSE(IsCompressed(0, BodyCoding::kGzip).value());
  EXPECT_TRUE(IsCompressed(1, BodyCoding::kGzip).value());
  EXPECT_TRUE(absl::IsInternal(IsCompressed(1, BodyCoding::kPlain).status()));
  EXPECT_TRUE(absl::IsInternal(IsCompressed(2, BodyCoding::kGzip).status()));
  EXPECT_TRUE(absl::IsInternal(IsCompressed('\x80', BodyCoding::kPlain).status()));
}

TEST(GrpcForm, ACompressedMessageWithoutBytesIsEmpty) {
  std::string body = GrpcReply(GrpcBody() + "abc").body;
  body[0] = 1;
  EXPECT_TRUE(GrpcMessageOf(body, BodyCoding::kGzip)->is_compressed);
  body = GrpcBody();
  body[0] = 1;
  EXPECT_FALSE(GrpcMessageOf(body, BodyCoding::kGzip)->is_compressed);
}

TEST(GrpcForm, AnEncodingHasAName) {
  const auto coding = [](const std::string& headers, bool allowed, std::string* added) {
    FakeHttpCall call("POST /a.B/C", headers, "");
    const absl::StatusOr<BodyCoding> found = GrpcCoding(&call, allowed);
    *added = call.added;
    return found;
  };
  std::string added;
  EXPECT_EQ(coding("", false, &added).value(), BodyCoding::kPlain);
  EXPECT_EQ(coding("grpc-encoding: identity\r\n", false, &added).value(), BodyCoding::kPlain);
  EXPECT_EQ(coding("grpc-encoding: gzip\r\n", true, &added).value(), BodyCoding::kGzip);
  EXPECT_EQ(coding("grpc-encoding: deflate\r\n", true, &added).value(), BodyCoding::kDeflate);
  EXPECT_EQ(added, "");
  for (const char* const other : {"grpc-encoding: zstd\r\n", "grpc-encoding: GZIP\r\n",
                                  "grpc-encoding: gzip\r\ngrpc-encoding: gzip\r\n"}) {
    EXPECT_TRUE(absl::IsUnimplemented(coding(other, true, &added).status())) << other;
    EXPECT_EQ(added, "grpc-accept-encoding: identity, deflate, gzip\r\n");
  }
  EXPECT_TRUE(absl::IsUnimplemented(coding("grpc-encoding: gzip\r\n", false, &added).status()));
  EXPECT_EQ(added, "grpc-accept-encoding: identity\r\n");
}

TEST(GrpcForm, AnErrorIsInTheHeaders) {
  const HttpReply reply = GrpcError(absl::NotFoundError("100 % no\nm\xc3\xbc"), StatusStyle::kOwn);
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "");
  EXPECT_EQ(reply.trailers, "");
  EXPECT_EQ(reply.headers, "grpc-status: 5\r\ngrpc-message: 100 %25 no%0Am%C3%BC\r\n");
}

TEST(GrpcForm, BlanksAtTheEndsOfATextStay) {
  const HttpReply reply = GrpcError(absl::NotFoundError(" a b "), StatusStyle::kOwn);
  EXPECT_EQ(reply.headers, "grpc-status: 5\r\ngrpc-message: %20a b%20\r\n");
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
