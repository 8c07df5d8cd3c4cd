#include <gtest/gtest.h>

#include "server/pool/lanes/output_sizing.h"

namespace mpsd {
namespace {

constexpr uint64_t kAssumed = kAssumedOutputRowBytes;

void UseOften(OutputEstimate* estimate, uint32_t batches, uint64_t row_bytes) {
  for (uint32_t i = 0; i < batches; ++i) estimate->Use(4 * row_bytes, 4);
}

TEST(OutputEstimate, GrowsAtOnceToAPowerOfTwo) {
  OutputEstimate estimate;
  EXPECT_EQ(estimate.row_bytes(), kAssumed);
  estimate.Grow(4 * kAssumed + 1, 4);
  EXPECT_EQ(estimate.row_bytes(), 2 * kAssumed);
  estimate.Grow(4 * kAssumed, 4);
  EXPECT_EQ(estimate.row_bytes(), 2 * kAssumed) << "it does not shrink by growing";
}

TEST(OutputEstimate, ComesDownByHalfAfterManySmallBatches) {
  OutputEstimate estimate;
  estimate.Grow(64 * kAssumed, 1);
  UseOften(&estimate, OutputEstimate::kBatchesToShrink - 1, kAssumed);
  EXPECT_EQ(estimate.row_bytes(), 64 * kAssumed);
  UseOften(&estimate, 1, kAssumed);
  EXPECT_EQ(estimate.row_bytes(), 32 * kAssumed);
  UseOften(&estimate, 10 * OutputEstimate::kBatchesToShrink, kAssumed);
  EXPECT_EQ(estimate.row_bytes(), 4 * kAssumed) << "of which such rows use a quarter";
}

TEST(OutputEstimate, OneLargeBatchAmongThemKeepsIt) {
  OutputEstimate estimate;
  estimate.Grow(64 * kAssumed, 1);
  for (int i = 0; i < 4; ++i) {
    UseOften(&estimate, OutputEstimate::kBatchesToShrink - 1, 1);
    estimate.Use(16 * kAssumed, 1);
  }
  EXPECT_EQ(estimate.row_bytes(), 64 * kAssumed);
}

TEST(OutputEstimate, ABatchThatDidNotFitCountsAsLarge) {
  OutputEstimate estimate;
  estimate.Grow(64 * kAssumed, 1);
  UseOften(&estimate, OutputEstimate::kBatchesToShrink - 1, 1);
  estimate.Grow(2 * kAssumed, 1);
  UseOften(&estimate, OutputEstimate::kBatchesToShrink - 1, 1);
  EXPECT_EQ(estimate.row_bytes(), 64 * kAssumed);
}

TEST(OutputEstimate, NeverFallsBelowWhatARowIsFirstTakenFor) {
  OutputEstimate estimate;
  UseOften(&estimate, 3 * OutputEstimate::kBatchesToShrink, 0);
  EXPECT_EQ(estimate.row_bytes(), kAssumed);
}

}  // namespace
}  // namespace mpsd
