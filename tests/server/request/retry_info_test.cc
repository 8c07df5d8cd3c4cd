#include "server/request/retry_info.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/cord.h"
#include "proto/base/clock.h"

namespace mpsd {
namespace {

TEST(RetryInfo, IsWhatProtobufWouldWrite) {
  const absl::Status status =
      WithRetryAfter(absl::ResourceExhaustedError("full"), 3 * kNsPerSecond + 500);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "full");
  // retry_delay { seconds: 3 nanos: 500 }
  EXPECT_EQ(std::string(*status.GetPayload(kRetryInfoType)),
            std::string("\x0a\x05\x08\x03\x10\xf4\x03", 7));
}

TEST(RetryInfo, IsReadBack) {
  for (const int64_t delay_ns : {int64_t{0}, int64_t{1}, kNsPerMs, kNsPerSecond - 1, kNsPerSecond,
                                 300 * kNsPerSecond + 999'999'999}) {
    EXPECT_EQ(RetryAfterNs(WithRetryAfter(absl::ResourceExhaustedError(""), delay_ns)), delay_ns);
  }
}

TEST(RetryInfo, IsWithWhatIsBusy) {
  const absl::Status status = Busy("too much at once");
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "too much at once");
  EXPECT_EQ(RetryAfterNs(status), 100 * kNsPerMs);
}

TEST(RetryInfo, IsNowhereElse) {
  EXPECT_EQ(RetryAfterNs(absl::OkStatus()), std::nullopt);
  EXPECT_EQ(RetryAfterNs(absl::ResourceExhaustedError("full")), std::nullopt);
  for (const char* text : {"", "\x0a", "\x0a\x09\x08", "\x08\x01"}) {
    absl::Status status = absl::ResourceExhaustedError("full");
    status.SetPayload(kRetryInfoType, absl::Cord(text));
    EXPECT_EQ(RetryAfterNs(status), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace mpsd
