#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "server/heap.h"

namespace mpsd {
namespace {

constexpr uint64_t kOneMiB = 1 << 20;

// As large messages are read: many blocks, none so large that it has pages of its own.
void TakeAndFree(uint64_t bytes) {
  constexpr size_t kBlockBytes = 64 << 10;
  std::vector<std::unique_ptr<char[]>> blocks;
  for (uint64_t taken = 0; taken < bytes; taken += kBlockBytes) {
    blocks.push_back(std::make_unique<char[]>(kBlockBytes));
    std::memset(blocks.back().get(), 1, kBlockBytes);
  }
}

// The other threads live on, so that the parts of the heap that they use are theirs.
TEST(HeapTest, GivesBackWhatOtherThreadsFreed) {
  constexpr int kThreads = 3;
  ShareHeap();
  const uint64_t before = ResidentHeapBytes();
  absl::Notification end;
  std::vector<std::thread> threads;
  std::vector<absl::Notification> freed(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&end, &done = freed[static_cast<size_t>(i)]] {
      TakeAndFree(40 * kOneMiB);
      done.Notify();
      end.WaitForNotification();
    });
  }
  for (const absl::Notification& done : freed) done.WaitForNotification();
  EXPECT_GE(ResidentHeapBytes(), before + 30 * kOneMiB) << "nothing is held: this shows nothing";
  TrimHeap();
  EXPECT_LE(ResidentHeapBytes(), before + 8 * kOneMiB);
  end.Notify();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace mpsd
