#include "server/pool/schedule/call_rest.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

constexpr int64_t kRestNow = 1000;

CallRest RestOf(uint64_t rows, uint32_t lanes) {
  return {.rows = rows,
          .batch_rows = 8,
          .batch_ns = 100,
          .lanes = lanes,
          .deadline_ns = kRestNow + 250};
}

TEST(CallRest, IsLateOnlyIfAllLanesTogetherCannotDoIt) {
  EXPECT_EQ(LeastLatenessNs(RestOf(16, 1), kRestNow), 0);
  EXPECT_EQ(LeastLatenessNs(RestOf(24, 1), kRestNow), 50);
  EXPECT_EQ(LeastLatenessNs(RestOf(40, 2), kRestNow), 0);
  EXPECT_EQ(LeastLatenessNs(RestOf(64, 2), kRestNow), 150);
}

TEST(CallRest, APartOfARoundMayFinishInTime) {
  EXPECT_EQ(LeastLatenessNs(RestOf(23, 1), kRestNow), 0);
}

TEST(CallRest, IsBoundedForAnyNumberOfRows) {
  CallRest rest = RestOf(UINT64_MAX, 1);
  rest.batch_ns = INT64_MAX;
  EXPECT_GT(LeastLatenessNs(rest, kRestNow), 0);
}

}  // namespace
}  // namespace mpsd
