#include "server/request/device_list.h"

#include <gtest/gtest.h>

#include "server/request/worker_status.h"

namespace mpsd {
namespace {

using Devices = std::vector<std::string>;

TEST(DeviceList, ATextNamesOneDeviceOrSeveralOfCuda) {
  EXPECT_EQ(DevicesOfText("cpu"), Devices{"cpu"});
  EXPECT_EQ(DevicesOfText("cuda"), Devices{"cuda"});
  EXPECT_EQ(DevicesOfText("cuda:1"), Devices{"cuda:1"});
  EXPECT_EQ(DevicesOfText("cuda:10,2"), (Devices{"cuda:10", "cuda:2"}));
}

TEST(DeviceList, TheTextOfDevicesNamesEachOnce) {
  EXPECT_EQ(DeviceListText({}), "");
  EXPECT_EQ(DeviceListText(Devices{"mps", "mps"}), "mps");
  EXPECT_EQ(DeviceListText(Devices{"cuda:1", "cuda:0", "cuda:1"}), "cuda:1,0");
  EXPECT_EQ(DeviceListText(Devices{"cuda:all"}), "cuda:all");
}

TEST(DeviceList, AnotherKindIsNamedInFull) {
  EXPECT_EQ(DeviceListText(Devices{"cuda", "cuda:1"}), "cuda,cuda:1");
  EXPECT_EQ(DeviceListText(Devices{"cuda:1", "cpu"}), "cuda:1,cpu");
}

TEST(DeviceList, OfWorkersThatHaveNotSaidTheirsItSaysNothing) {
  std::vector<WorkerInfo> workers(3);
  EXPECT_EQ(DevicesOf(workers), "");
  workers[0].device = "cuda:0";
  workers[2].device = "cuda:1";
  EXPECT_EQ(DevicesOf(workers), "cuda:0,1");
}

TEST(DeviceListDeathTest, AllOfAHostAreNoneThatATextNames) {
  EXPECT_DEATH(DevicesOfText("cuda:all"), "check failed");
}

}  // namespace
}  // namespace mpsd
