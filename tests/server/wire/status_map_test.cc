#include "server/wire/status_map.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/cord.h"

namespace mpsd {
namespace {

constexpr char kRetryInfoUrl[] = "type.googleapis.com/google.rpc.RetryInfo";

// The fields of a google.rpc.Status {code:1 = 8, message:2, details:3 {type_url:1 value:2}}.
std::string RichStatus(const std::string& message, const std::string& value) {
  const std::string url = kRetryInfoUrl;
  const auto text = [](char field, const std::string& bytes) {
    return std::string{static_cast<char>(field << 3 | 2), static_cast<char>(bytes.size())} + bytes;
  };
  return std::string("\x08\x08", 2) + text(2, message) + text(3, text(1, url) + text(2, value));
}

TEST(StatusMap, KeepsCodeAndText) {
  const grpc::Status status =
      ToGrpcStatus(absl::NotFoundError("nobody is here"), StatusStyle::kOwn);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(status.error_message(), "nobody is here");
  EXPECT_EQ(status.error_details(), "");
}

TEST(StatusMap, OkIsOk) { EXPECT_TRUE(ToGrpcStatus(absl::OkStatus(), StatusStyle::kOwn).ok()); }

TEST(StatusMap, AFullQueueSaysWhenToComeAgain) {
  absl::Status full = absl::ResourceExhaustedError("Exceeds maximum queue size");
  full.SetPayload(kRetryInfoUrl, absl::Cord("\x0a\x02\x08\x03"));
  const grpc::Status status = ToGrpcStatus(full, StatusStyle::kOwn);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(status.error_details(), RichStatus("Exceeds maximum queue size", "\x0a\x02\x08\x03"));
}

TEST(StatusMap, OtherLimitsPromiseNothing) {
  const grpc::Status status =
      ToGrpcStatus(absl::ResourceExhaustedError("too large for ever"), StatusStyle::kOwn);
  EXPECT_EQ(status.error_details(), "");
}

TEST(StatusMap, PayloadsThatAreNoMessagesStayInside) {
  absl::Status inner = absl::InternalError("x");
  inner.SetPayload("mpsd/private", absl::Cord("secret"));
  EXPECT_EQ(ToGrpcStatus(inner, StatusStyle::kOwn).error_details(), "");
}

// Whose time passed while it ran is no exception: there is one text, and one code for it.
TEST(StatusMap, TritonsCodesForAFullQueueAndEveryTimeOut) {
  for (const absl::Status& status :
       {absl::ResourceExhaustedError("Exceeds maximum queue size"),
        absl::ResourceExhaustedError("[request id: 7] Exceeds maximum queue size"),
        absl::DeadlineExceededError("Request timeout expired")}) {
    const grpc::Status triton = ToGrpcStatus(status, StatusStyle::kTriton);
    EXPECT_EQ(triton.error_code(), grpc::StatusCode::UNAVAILABLE) << status;
    EXPECT_EQ(triton.error_message(), std::string(status.message()));
    EXPECT_EQ(ToGrpcStatus(status, StatusStyle::kOwn).error_code(),
              static_cast<grpc::StatusCode>(status.code()));
  }
}

TEST(StatusMap, OtherLimitsAreRefusedAlikeInBothStyles) {
  EXPECT_EQ(
      ToGrpcStatus(absl::ResourceExhaustedError("too large"), StatusStyle::kTriton).error_code(),
      grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST(StatusMap, ALongTextIsCutBetweenCharacters) {
  const std::string whole(2048, 'a');
  EXPECT_EQ(ToGrpcStatus(absl::NotFoundError(whole), StatusStyle::kOwn).error_message(), whole);
  EXPECT_EQ(ToGrpcStatus(absl::NotFoundError(whole + "b"), StatusStyle::kOwn).error_message(),
            whole + "...");
  const std::string accent = std::string(2047, 'a') + "\xc3\xa4";
  EXPECT_EQ(ToGrpcStatus(absl::NotFoundError(accent), StatusStyle::kOwn).error_message(),
            std::string(2047, 'a') + "...");
}

}  // namespace
}  // namespace mpsd
