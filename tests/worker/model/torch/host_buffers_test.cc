#include "worker/model/torch/host_buffers.h"

#include <gtest/gtest.h>

#include "proto/base/limits.h"
#include "tests/worker/model/torch/fake_buffers.h"

namespace mpsd {
namespace {

constexpr uint64_t kPage = 16384;

class HostBuffersTest : public testing::Test {
 protected:
  const char* page(size_t index) const { return pages_ + index * kPage; }

  alignas(kPage) char pages_[4 * kPage] = {};
  FakeBuffers maker_;
  HostBuffers buffers_{&maker_, kPage};
};

TEST_F(HostBuffersTest, FindsABatchByItsOffsetInTheBufferOfItsSegment) {
  ASSERT_TRUE(buffers_.Add(page(0), kPage).ok());
  ASSERT_TRUE(buffers_.Add(page(1), 2 * kPage).ok());
  const auto place = buffers_.Find(page(2) + 192, 100);
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->buffer.get(), page(1));
  EXPECT_EQ(place->offset, kPage + 192);
  EXPECT_EQ(maker_.made, 2) << "one buffer a segment, whatever is found in it";
}

TEST_F(HostBuffersTest, FindsTheWholeSegmentAndNothingBeyondIt) {
  ASSERT_TRUE(buffers_.Add(page(1), kPage).ok());
  EXPECT_TRUE(buffers_.Find(page(1), kPage).has_value());
  EXPECT_FALSE(buffers_.Find(page(1), kPage + 1).has_value());
  EXPECT_FALSE(buffers_.Find(page(1) + kTensorAlignment, kPage).has_value());
  EXPECT_FALSE(buffers_.Find(page(1) - kTensorAlignment, 2 * kTensorAlignment).has_value());
  EXPECT_FALSE(buffers_.Find(page(2), 1).has_value());
  EXPECT_FALSE(buffers_.Find(page(1), UINT64_MAX).has_value());
}

TEST_F(HostBuffersTest, ABatchOfTwoSegmentsIsCopied) {
  ASSERT_TRUE(buffers_.Add(page(0), kPage).ok());
  ASSERT_TRUE(buffers_.Add(page(1), kPage).ok());
  EXPECT_FALSE(buffers_.Find(page(1) - kTensorAlignment, 2 * kTensorAlignment).has_value());
}

TEST_F(HostBuffersTest, ABatchThatIsNotAlignedIsCopied) {
  ASSERT_TRUE(buffers_.Add(page(0), kPage).ok());
  EXPECT_TRUE(buffers_.Find(page(0) + kTensorAlignment, 4).has_value());
  for (const uint64_t offset : {uint64_t{1}, uint64_t{4}, kTensorAlignment / 2}) {
    EXPECT_FALSE(buffers_.Find(page(0) + offset, 4).has_value()) << offset;
  }
  EXPECT_FALSE(buffers_.Find(page(0), 0).has_value()) << "no buffer is of no bytes";
}

TEST_F(HostBuffersTest, OnlyWholePagesBecomeABuffer) {
  EXPECT_TRUE(absl::IsInvalidArgument(buffers_.Add(page(0) + 64, kPage)));
  EXPECT_TRUE(absl::IsInvalidArgument(buffers_.Add(page(0), kPage + 1)));
  EXPECT_TRUE(absl::IsInvalidArgument(buffers_.Add(page(0), kPage / 2)));
  EXPECT_TRUE(absl::IsInvalidArgument(buffers_.Add(page(0), 0)));
  EXPECT_EQ(maker_.made, 0);
}

TEST_F(HostBuffersTest, HoldsTheBytesOfItsPieces) {
  EXPECT_EQ(buffers_.HeldBytes(), 0u);
  ASSERT_TRUE(buffers_.Add(page(0), kPage).ok());
  ASSERT_TRUE(buffers_.Add(page(1), 2 * kPage).ok());
  EXPECT_EQ(buffers_.HeldBytes(), 3 * kPage);
  buffers_.Remove(page(1));
  EXPECT_EQ(buffers_.HeldBytes(), kPage);
}

TEST_F(HostBuffersTest, WhatTheGpuRefusesIsCopied) {
  maker_.refuses = true;
  EXPECT_TRUE(absl::IsUnavailable(buffers_.Add(page(0), kPage)));
  EXPECT_FALSE(buffers_.Find(page(0), kPage).has_value());
  buffers_.Remove(page(0));
}

TEST_F(HostBuffersTest, ABufferEndsWithItsSegmentOrWithTheLastTensorOverIt) {
  ASSERT_TRUE(buffers_.Add(page(0), kPage).ok());
  ASSERT_TRUE(buffers_.Add(page(1), kPage).ok());
  auto place = buffers_.Find(page(0), 64);
  buffers_.Remove(page(0));
  buffers_.Remove(page(1));
  EXPECT_EQ(maker_.alive, 1) << "a place is left";
  EXPECT_FALSE(buffers_.Find(page(0), 64).has_value());
  place.reset();
  EXPECT_EQ(maker_.alive, 0);
}

}  // namespace
}  // namespace mpsd
