#include "server/pool/schedule/saturation.h"

#include <gtest/gtest.h>

#include "proto/base/clock.h"

namespace mpsd {
namespace {

constexpr int64_t kThen = 1000 * kNsPerSecond;

TEST(Saturation, NothingIsNone) { EXPECT_EQ(Saturation().At(kThen), 0); }

TEST(Saturation, IsTheShareOfItsTimeThatARequestHasWaited) {
  Saturation saturation;
  saturation.Note(Saturation::OfWait(kThen - kNsPerSecond, kThen + 3 * kNsPerSecond, kThen), kThen);
  EXPECT_DOUBLE_EQ(saturation.At(kThen), 0.25);
}

TEST(Saturation, IsTheLargestShareAndNeverAboveOne) {
  Saturation saturation;
  saturation.Note(0.5, kThen);
  saturation.Note(0.2, kThen);
  EXPECT_DOUBLE_EQ(saturation.At(kThen), 0.5);
  saturation.Note(Saturation::OfWait(kThen - 2 * kNsPerSecond, kThen - kNsPerSecond, kThen), kThen);
  EXPECT_DOUBLE_EQ(saturation.At(kThen), 1);
}

TEST(Saturation, ADeadlineAtArrivalIsAWholeShare) {
  Saturation saturation;
  saturation.Note(Saturation::OfWait(kThen - 1, kThen - 1, kThen), kThen);
  EXPECT_DOUBLE_EQ(saturation.At(kThen), 1);
}

TEST(Saturation, HalvesWithTime) {
  Saturation saturation;
  saturation.Note(1, kThen);
  EXPECT_DOUBLE_EQ(saturation.At(kThen + Saturation::kHalfNs), 0.5);
  saturation.Note(0.1, kThen + Saturation::kHalfNs);
  EXPECT_DOUBLE_EQ(saturation.At(kThen + 2 * Saturation::kHalfNs), 0.25);
}

}  // namespace
}  // namespace mpsd
