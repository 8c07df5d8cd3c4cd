#include "client/retry_policy.h"

#include <gtest/gtest.h>

#include "server/request/retry_info.h"

namespace mpsd::client {
namespace {

constexpr RetryOptions kFour{4, absl::Milliseconds(100), absl::Milliseconds(250)};

FailedAttempt Unavailable(uint32_t attempt) {
  FailedAttempt failed;
  failed.code = absl::StatusCode::kUnavailable;
  failed.attempt = attempt;
  return failed;
}

TEST(RetryDelay, DoublesUpToTheLongest) {
  EXPECT_EQ(RetryDelay(kFour, Unavailable(1), 0), absl::Milliseconds(100));
  EXPECT_EQ(RetryDelay(kFour, Unavailable(2), 0), absl::Milliseconds(200));
  EXPECT_EQ(RetryDelay(kFour, Unavailable(3), 0), absl::Milliseconds(250));
  EXPECT_EQ(RetryDelay(kFour, Unavailable(4), 0), std::nullopt);
}

TEST(RetryDelay, IsScattered) {
  EXPECT_EQ(RetryDelay(kFour, Unavailable(1), 1), absl::Milliseconds(50));
  EXPECT_EQ(RetryDelay(kFour, Unavailable(1), 0.5), absl::Milliseconds(75));
}

TEST(RetryDelay, NothingIsTriedAgainByDefault) {
  EXPECT_EQ(RetryDelay(RetryOptions(), Unavailable(1), 0), std::nullopt);
}

TEST(RetryDelay, TheServersDelayIsWaitedInFull) {
  FailedAttempt failed = Unavailable(1);
  failed.server_delay = absl::Seconds(3);
  EXPECT_EQ(RetryDelay(kFour, failed, 1), absl::Seconds(3));
}

TEST(RetryDelay, NotBeyondTheDeadline) {
  FailedAttempt failed = Unavailable(1);
  failed.time_left = absl::Milliseconds(100);
  EXPECT_EQ(RetryDelay(kFour, failed, 0), std::nullopt);
  failed.time_left = absl::Milliseconds(101);
  EXPECT_EQ(RetryDelay(kFour, failed, 0), absl::Milliseconds(100));
}

TEST(RetryDelay, OnlyWhatIsSafe) {
  for (const absl::StatusCode code :
       {absl::StatusCode::kInvalidArgument, absl::StatusCode::kDeadlineExceeded,
        absl::StatusCode::kInternal, absl::StatusCode::kResourceExhausted,
        absl::StatusCode::kCancelled, absl::StatusCode::kNotFound}) {
    FailedAttempt failed = Unavailable(1);
    failed.code = code;
    EXPECT_EQ(RetryDelay(kFour, failed, 0), std::nullopt);
  }
  FailedAttempt full = Unavailable(1);
  full.code = absl::StatusCode::kResourceExhausted;
  full.server_delay = absl::Milliseconds(7);
  EXPECT_EQ(RetryDelay(kFour, full, 0), absl::Milliseconds(7));
}

// google.rpc.Status {details:3 Any {type_url:1 value:2}}.
std::string Details(const std::string& url, const std::string& value) {
  const auto field = [](char number, const std::string& bytes) {
    return std::string(1, static_cast<char>(number << 3 | 2)) + static_cast<char>(bytes.size()) +
           bytes;
  };
  return field(3, field(1, url) + field(2, value));
}

TEST(ServerDelay, IsReadAsOurServerWritesIt) {
  const absl::Status status = WithRetryAfter(absl::UnavailableError(""), 2'500'000'000);
  const std::string info(*status.GetPayload(kRetryInfoType));
  EXPECT_EQ(ServerDelay(Details(std::string(kRetryInfoType), info)), absl::Milliseconds(2500));
}

TEST(ServerDelay, NothingElseIsOne) {
  EXPECT_EQ(ServerDelay(""), std::nullopt);
  EXPECT_EQ(ServerDelay("\xff\xff"), std::nullopt);
  EXPECT_EQ(ServerDelay(Details("type.googleapis.com/google.rpc.Help", "\x0a\x02\x08\x03")),
            std::nullopt);
}

}  // namespace
}  // namespace mpsd::client
