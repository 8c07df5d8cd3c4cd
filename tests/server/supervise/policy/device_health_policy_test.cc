#include "server/supervise/policy/device_health_policy.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

constexpr int64_t kHealthStart = 1000 * kNsPerSecond;

// Workers that live for a nanosecond each, one after the other; returns the time of the last death.
int64_t Lose(DeviceHealth* device, int64_t now_ns, uint32_t times) {
  for (uint32_t i = 0; i < times; ++i, now_ns += 2) device->OnLost(now_ns - 1, now_ns);
  return now_ns - 2;
}

TEST(DeviceHealth, ThreeLossesInARowMakeItBad) {
  DeviceHealth device;
  const int64_t second_ns = Lose(&device, kHealthStart, kLossesInARow - 1);
  EXPECT_FALSE(device.bad());
  EXPECT_TRUE(device.MayStart(second_ns));
  const int64_t third_ns = Lose(&device, second_ns + 2, 1);
  EXPECT_TRUE(device.bad());
  EXPECT_EQ(device.rests_until_ns(), third_ns + kFirstDeviceRestNs);
  EXPECT_FALSE(device.MayStart(third_ns));
}

TEST(DeviceHealth, WorkersThatAreLostTogetherAreOneLoss) {
  DeviceHealth device;
  for (int worker = 0; worker < 16; ++worker)
    device.OnLost(kHealthStart, kHealthStart + 5 + worker);
  EXPECT_FALSE(device.bad());
  Lose(&device, kHealthStart + 100, kLossesInARow - 1);
  EXPECT_TRUE(device.bad());
}

TEST(DeviceHealth, GoodServiceInBetweenEndsTheRow) {
  DeviceHealth device;
  for (int i = 0; i < 10; ++i) {
    Lose(&device, kHealthStart + 100 * i, kLossesInARow - 1);
    device.OnGoodService();
  }
  EXPECT_FALSE(device.bad());
}

TEST(DeviceHealth, ABadOneIsTriedByOneWorkerAtATime) {
  DeviceHealth device;
  const int64_t tried_ns = Lose(&device, kHealthStart, kLossesInARow) + kFirstDeviceRestNs;
  EXPECT_FALSE(device.MayStart(tried_ns - 1));
  EXPECT_TRUE(device.MayStart(tried_ns));
  EXPECT_FALSE(device.MayStart(tried_ns + 1));
  EXPECT_TRUE(device.MayStart(tried_ns + kLastDeviceRestNs)) << "the first was never heard of";
}

TEST(DeviceHealth, IsThereForAllWhenOneServes) {
  DeviceHealth device;
  const int64_t tried_ns = Lose(&device, kHealthStart, kLossesInARow) + kFirstDeviceRestNs;
  EXPECT_TRUE(device.MayStart(tried_ns));
  device.OnServing();
  EXPECT_TRUE(device.MayStart(tried_ns + 1));
  EXPECT_TRUE(device.MayStart(tried_ns + 1));
  EXPECT_EQ(device.rests_until_ns(), 0);
}

TEST(DeviceHealth, EachFurtherLossDoublesTheRestUpToHalfAMinute) {
  DeviceHealth device;
  int64_t now_ns = Lose(&device, kHealthStart, kLossesInARow);
  int64_t rest_ns = kFirstDeviceRestNs;
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(device.rests_until_ns(), now_ns + rest_ns) << i;
    now_ns += rest_ns;
    ASSERT_TRUE(device.MayStart(now_ns)) << i;
    device.OnServing();
    now_ns = Lose(&device, now_ns + 2, 1);
    rest_ns = std::min(2 * rest_ns, kLastDeviceRestNs);
  }
  EXPECT_EQ(rest_ns, kLastDeviceRestNs);
  device.OnGoodService();
  EXPECT_FALSE(device.bad());
}

TEST(LosableDevice, HasOneNameADevice) {
  EXPECT_EQ(LosableDevice("cpu"), "");
  EXPECT_EQ(LosableDevice("cuda"), "cuda:0");
  EXPECT_EQ(LosableDevice("cuda:1"), "cuda:1");
  EXPECT_EQ(LosableDevice("mps"), "mps");
}

}  // namespace
}  // namespace mpsd
