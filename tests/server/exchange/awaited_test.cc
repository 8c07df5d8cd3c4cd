#include "server/exchange/awaited.h"

#include <gtest/gtest.h>

#include "proto/base/clock.h"

namespace mpsd {
namespace {

constexpr int64_t kNow = 1'000 * kNsPerSecond;

TEST(Awaited, ARequestIsLateFromItsDeadlineOn) {
  Request request;
  request.arrival_ns = kNow - kNsPerSecond;
  request.deadline_ns = kNow;
  EXPECT_TRUE(CheckInTime(request, kNow - 1).ok());
  for (const int64_t now_ns : {kNow, kNow + 1}) {
    EXPECT_EQ(CheckInTime(request, now_ns), absl::DeadlineExceededError("Request timeout expired"));
  }
}

}  // namespace
}  // namespace mpsd
