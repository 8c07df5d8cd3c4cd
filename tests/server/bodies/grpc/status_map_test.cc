#include "server/bodies/grpc/status_map.h"

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
  const ToldStatus status = TellStatus(absl::NotFoundError("nobody is here"), StatusStyle::kOwn);
  EXPECT_EQ(status.code, absl::StatusCode::kNotFound);
  EXPECT_EQ(status.text, "nobody is here");
  EXPECT_EQ(status.details, "");
}

TEST(StatusMap, OkIsOk) {
  EXPECT_EQ(TellStatus(absl::OkStatus(), StatusStyle::kOwn).code, absl::StatusCode::kOk);
  EXPECT_EQ(TellStatus(absl::OkStatus(), StatusStyle::kTriton).details, "");
}

TEST(StatusMap, AFullQueueSaysWhenToComeAgain) {
  absl::Status full = absl::ResourceExhaustedError("Exceeds maximum queue size");
  full.SetPayload(kRetryInfoUrl, absl::Cord("\x0a\x02\x08\x03"));
  const ToldStatus status = TellStatus(full, StatusStyle::kOwn);
  EXPECT_EQ(status.code, absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.details, RichStatus("Exceeds maximum queue size", "\x0a\x02\x08\x03"));
}

TEST(StatusMap, OtherLimitsPromiseNothing) {
  const ToldStatus status =
      TellStatus(absl::ResourceExhaustedError("too large for ever"), StatusStyle::kOwn);
  EXPECT_EQ(status.details, "");
}

TEST(StatusMap, PayloadsThatAreNoMessagesStayInside) {
  absl::Status inner = absl::InternalError("x");
  inner.SetPayload("mpsd/private", absl::Cord("secret"));
  EXPECT_EQ(TellStatus(inner, StatusStyle::kOwn).details, "");
}

// Whose time passed while it ran is no exception: there is one text, and one code for it.
TEST(StatusMap, TritonsCodesForAFullQueueAndEveryTimeOut) {
  for (const absl::Status& status :
       {absl::ResourceExhaustedError("Exceeds maximum queue size"),
        absl::ResourceExhaustedError("[request id: 7] Exceeds maximum queue size"),
        absl::DeadlineExceededError("Request timeout expired")}) {
    const ToldStatus triton = TellStatus(status, StatusStyle::kTriton);
    EXPECT_EQ(triton.code, absl::StatusCode::kUnavailable) << status;
    EXPECT_EQ(triton.text, std::string(status.message()));
    EXPECT_EQ(TellStatus(status, StatusStyle::kOwn).code, status.code());
  }
}

TEST(StatusMap, OtherLimitsAreRefusedAlikeInBothStyles) {
  EXPECT_EQ(TellStatus(absl::ResourceExhaustedError("too large"), StatusStyle::kTriton).code,
            absl::StatusCode::kResourceExhausted);
}

TEST(StatusMap, ALongTextIsCutBetweenCharacters) {
  const std::string whole(2048, 'a');
  EXPECT_EQ(TellStatus(absl::NotFoundError(whole), StatusStyle::kOwn).text, whole);
  EXPECT_EQ(TellStatus(absl::NotFoundError(whole + "b"), StatusStyle::kOwn).text, whole + "...");
  const std::string accent = std::string(2047, 'a') + "\xc3\xa4";
  EXPECT_EQ(TellStatus(absl::NotFoundError(accent), StatusStyle::kOwn).text,
            std::string(2047, 'a') + "...");
}

}  // namespace
}  // namespace mpsd
