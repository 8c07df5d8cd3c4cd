#include "copier/open_regions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "tests/fakes/fake_device_memory.h"

namespace mpsd {
namespace {

constexpr uint64_t kSegmentBytes = 4096;

class OpenRegionsTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(driver_.Load().ok()); }

  CopyResult Perform(const CopyOrder& order) { return regions_.Perform(order).result; }

  CopyResult Open(uint64_t region, const std::string& handle, uint64_t bytes, int64_t device = 0) {
    CopyOrder order;
    order.verb = CopyVerb::kOpen;
    order.region = region;
    order.device = device;
    order.bytes = bytes;
    std::copy(handle.begin(), handle.end(), order.handle);
    return Perform(order);
  }

  CopyResult Do(CopyVerb verb, uint64_t region, uint64_t offset = 0, uint64_t bytes = 0) {
    CopyOrder order;
    order.verb = verb;
    order.region = region;
    order.offset = offset;
    order.bytes = bytes;
    return Perform(order);
  }

  CudaDriver driver_;
  std::string inbox_ = std::string(kSegmentBytes, 'i');
  std::string outbox_ = std::string(kSegmentBytes, 'o');
  OpenRegions regions_{&driver_, absl::MakeConstSpan(inbox_.data(), inbox_.size()),
                       absl::MakeSpan(&outbox_[0], outbox_.size())};
  FakeDeviceMemory memory_{"memory", 8192};
};

TEST_F(OpenRegionsTest, BytesGoBothWays) {
  ASSERT_EQ(Open(7, memory_.handle(), 8192), CopyResult::kDone);
  memory_.Put(100, "from the device");
  EXPECT_EQ(Do(CopyVerb::kRead, 7, 100, 15), CopyResult::kDone);
  EXPECT_EQ(outbox_.substr(0, 16), "from the deviceo");
  inbox_.replace(0, 7, "to it..");
  EXPECT_EQ(Do(CopyVerb::kWrite, 7, 8187, 5), CopyResult::kDone);
  EXPECT_EQ(memory_.Get(8187, 5), "to it");
  EXPECT_EQ(memory_.Get(100, 15), "from the device");
}

TEST_F(OpenRegionsTest, ARegionIsNoLargerThanItsAllocation) {
  EXPECT_EQ(Open(1, memory_.handle(), 8193), CopyResult::kTooSmall);
  EXPECT_EQ(Open(1, memory_.handle(), ~uint64_t{0}), CopyResult::kTooSmall);
  EXPECT_EQ(Do(CopyVerb::kRead, 1, 0, 1), CopyResult::kBadOrder);
  EXPECT_EQ(Open(1, memory_.handle(), 8192), CopyResult::kDone);
}

TEST_F(OpenRegionsTest, RangesAreHeldToTheRegion) {
  ASSERT_EQ(Open(1, memory_.handle(), 6000), CopyResult::kDone);
  EXPECT_EQ(Do(CopyVerb::kRead, 1, 5990, 10), CopyResult::kDone);
  EXPECT_EQ(Do(CopyVerb::kRead, 1, 5991, 10), CopyResult::kBadOrder);
  EXPECT_EQ(Do(CopyVerb::kWrite, 1, 6001, 0), CopyResult::kBadOrder);
  EXPECT_EQ(Do(CopyVerb::kWrite, 1, 1, ~uint64_t{0}), CopyResult::kBadOrder);
  EXPECT_EQ(Do(CopyVerb::kRead, 1, ~uint64_t{0}, 2), CopyResult::kBadOrder);
}

TEST_F(OpenRegionsTest, ACopyIsNoLargerThanASegment) {
  ASSERT_EQ(Open(1, memory_.handle(), 8192), CopyResult::kDone);
  EXPECT_EQ(Do(CopyVerb::kRead, 1, 0, kSegmentBytes), CopyResult::kDone);
  EXPECT_EQ(Do(CopyVerb::kRead, 1, 0, kSegmentBytes + 1), CopyResult::kBadOrder);
  EXPECT_EQ(Do(CopyVerb::kWrite, 1, 0, kSegmentBytes + 1), CopyResult::kBadOrder);
}

TEST_F(OpenRegionsTest, WhatIsNoHandleIsNotOpened) {
  EXPECT_EQ(Open(1, std::string(kDeviceHandleBytes, 'x'), 1), CopyResult::kBadHandle);
  EXPECT_EQ(Open(1, memory_.handle(), 1, /*device=*/1), CopyResult::kBadDevice);
  EXPECT_EQ(Open(1, memory_.handle(), 1, /*device=*/-1), CopyResult::kBadDevice);
}

TEST_F(OpenRegionsTest, ANumberIsOneRegionsUntilItIsClosed) {
  ASSERT_EQ(Open(1, memory_.handle(), 16), CopyResult::kDone);
  EXPECT_EQ(Open(1, memory_.handle(), 16), CopyResult::kBadOrder);
  EXPECT_EQ(Open(2, memory_.handle(), 16), CopyResult::kDone);
  EXPECT_EQ(Do(CopyVerb::kClose, 1), CopyResult::kDone);
  EXPECT_EQ(Do(CopyVerb::kClose, 1), CopyResult::kBadOrder);
  EXPECT_EQ(Do(CopyVerb::kRead, 1, 0, 1), CopyResult::kBadOrder);
  // The other one's is open still.
  EXPECT_EQ(Do(CopyVerb::kRead, 2, 0, 1), CopyResult::kDone);
  EXPECT_EQ(Open(1, memory_.handle(), 16), CopyResult::kDone);
}

TEST_F(OpenRegionsTest, ErrorsOfTheDriverAreToldApart) {
  const FakeDeviceMemory fails("a.fail", 64);
  const FakeDeviceMemory loses("a.lost", 64);
  ASSERT_EQ(Open(1, fails.handle(), 64), CopyResult::kDone);
  ASSERT_EQ(Open(2, loses.handle(), 64), CopyResult::kDone);
  EXPECT_EQ(Do(CopyVerb::kRead, 1, 0, 1), CopyResult::kFailed);
  EXPECT_EQ(Do(CopyVerb::kWrite, 2, 0, 1), CopyResult::kLost);
}

TEST_F(OpenRegionsTest, NothingStartsTwice) {
  EXPECT_EQ(Do(CopyVerb::kStart, 0), CopyResult::kBadOrder);
  EXPECT_EQ(Do(static_cast<CopyVerb>(99), 0), CopyResult::kBadOrder);
}

TEST(CudaDriver, SaysThatThereIsNoDevice) {
  setenv("FAKE_CUDA_DEVICES", "0", 1);
  CudaDriver driver;
  EXPECT_EQ(driver.Load().result, CopyResult::kNoDevice);
  unsetenv("FAKE_CUDA_DEVICES");
}

TEST(CudaDriver, SaysThatItDoesNotStart) {
  setenv("FAKE_CUDA_INIT", "802", 1);
  CudaDriver driver;
  const DriverVerdict verdict = driver.Load();
  EXPECT_EQ(verdict.result, CopyResult::kFailed);
  EXPECT_EQ(verdict.code, 802);
  unsetenv("FAKE_CUDA_INIT");
}

}  // namespace
}  // namespace mpsd
