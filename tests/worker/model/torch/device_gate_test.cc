#include "worker/model/torch/device_gate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <vector>

namespace mpsd {
namespace {

// The largest number of threads that were inside at once.
int MostInside(uint32_t permits, int threads) {
  DeviceGate gate(permits);
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        const DeviceGate::Permit permit(&gate);
        const int now = ++inside;
        int seen = most;
        while (now > seen && !most.compare_exchange_weak(seen, now)) {
        }
        std::this_thread::yield();
        --inside;
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  return most;
}

TEST(DeviceGate, LetsNoMoreInThanItHasPermits) {
  EXPECT_EQ(MostInside(1, 8), 1);
  EXPECT_LE(MostInside(3, 8), 3);
}

TEST(DeviceGate, WithoutPermitsIsOpen) {
  DeviceGate gate(0);
  const DeviceGate::Permit first(&gate);
  const DeviceGate::Permit second(&gate);
}

}  // namespace
}  // namespace mpsd
