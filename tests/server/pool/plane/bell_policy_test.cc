#include "server/pool/plane/bell_policy.h"

#include <gtest/gtest.h>

#include "proto/base/clock.h"

namespace mpsd {
namespace {

constexpr int64_t kStart = 1000 * kNsPerSecond;
constexpr uint32_t kLimit = BellWatch::kEmptyRingsPerSecond;

TEST(BellWatch, ARingForEachCompletionIsNeverTooMuch) {
  BellWatch watch(kStart);
  for (uint32_t i = 0; i < 100 * kLimit; ++i) {
    ASSERT_TRUE(watch.OnRing(i, kStart)) << "the completion is taken after its ring " << i;
  }
}

TEST(BellWatch, CompletionsMayBeTakenTogetherBeforeTheirRingsAreSeen) {
  BellWatch watch(kStart);
  uint32_t consumed = UINT32_MAX - 50 * kLimit;  // the count begins anew
  watch.OnRing(consumed, kStart);
  for (uint32_t round = 0; round < 1000; ++round) {
    consumed += 100;
    for (uint32_t ring = 0; ring < 100; ++ring) ASSERT_TRUE(watch.OnRing(consumed, kStart));
  }
}

TEST(BellWatch, RingsForNothingAreBounded) {
  BellWatch watch(kStart);
  for (uint32_t i = 0; i < kLimit; ++i) ASSERT_TRUE(watch.OnRing(7, kStart));
  for (uint32_t i = 0; i < 7; ++i) ASSERT_TRUE(watch.OnRing(7, kStart)) << "seven are paid for";
  EXPECT_FALSE(watch.OnRing(7, kStart));
  EXPECT_TRUE(watch.OnRing(7, kStart + kNsPerSecond)) << "so many a second are let go";
}

TEST(BellWatch, NobodySavesUpForAFlood) {
  BellWatch watch(kStart);
  EXPECT_TRUE(watch.OnRing(4'000'000'000, kStart));
  for (uint32_t i = 1; i < 2 * kLimit; ++i) {
    ASSERT_TRUE(watch.OnRing(4'000'000'000, kStart)) << i;
  }
  EXPECT_FALSE(watch.OnRing(4'000'000'000, kStart));
}

}  // namespace
}  // namespace mpsd
