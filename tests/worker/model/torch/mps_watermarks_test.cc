#include "worker/model/torch/mps_watermarks.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

TEST(DivideWatermarks, GivesEachProcessItsShare) {
  EXPECT_EQ(DivideWatermarks(50).high, "0.475");
  EXPECT_EQ(DivideWatermarks(50).low, "0.375");
  EXPECT_EQ(DivideWatermarks(100).high, "0.95") << "never all of it";
  EXPECT_EQ(DivideWatermarks(1000).high, "0.95");
}

}  // namespace
}  // namespace mpsd
