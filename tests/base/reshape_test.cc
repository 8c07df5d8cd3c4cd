#include "proto/base/reshape.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

TEST(Reshape, ShapesWithTheSameProductsBetweenTheirOpenDims) {
  EXPECT_EQ(ReshapeFault({1}, {}), "");
  EXPECT_EQ(ReshapeFault({}, {1, 1}), "");
  EXPECT_EQ(ReshapeFault({4}, {2, 2}), "");
  EXPECT_EQ(ReshapeFault({-1, 4}, {-1, 2, 2}), "");
  EXPECT_EQ(ReshapeFault({2, -1, 6}, {2, -1, 2, 3}), "");
  EXPECT_EQ(ReshapeFault({0, 3}, {0}), "");
}

TEST(Reshape, OtherShapesAreRefused) {
  EXPECT_EQ(ReshapeFault({4}, {2}), "[4] cannot become [2]");
  EXPECT_EQ(ReshapeFault({4}, {-1}), "[4] cannot become [-1]");
  EXPECT_EQ(ReshapeFault({-1, 4}, {4, -1}), "[-1,4] cannot become [4,-1]");
  EXPECT_EQ(ReshapeFault({-1, -1}, {-1}), "[-1,-1] cannot become [-1]");
}

TEST(Reshape, OpenDimsKeepTheirOrder) {
  EXPECT_EQ(Reshaped({1}, {}, {1}), Dims());
  EXPECT_EQ(Reshaped({4}, {2, 2}, {4}), (Dims{2, 2}));
  EXPECT_EQ(Reshaped({2, -1, 6, -1}, {-1, 2, 3, -1, 1}, {2, 7, 6, 9}), (Dims{7, 2, 3, 9, 1}));
}

}  // namespace
}  // namespace mpsd
