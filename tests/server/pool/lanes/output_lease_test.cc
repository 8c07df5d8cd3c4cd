#include "server/pool/lanes/output_lease.h"

#include <gtest/gtest.h>

#include <barrier>
#include <thread>
#include <vector>

#include "proto/base/check.h"
#include "server/pool/lanes/worker_link.h"

namespace mpsd {
namespace {

// A link whose output area is large enough for all that a test leases.
std::shared_ptr<WorkerLink> PinningLink(uint64_t pin_limit_bytes) {
  WorkerLink::Options options;
  options.outputs.bytes = 64 << 10;
  options.outputs.pin_limit_bytes = pin_limit_bytes;
  absl::StatusOr<std::shared_ptr<WorkerLink>> link = WorkerLink::Create(options);
  MPSD_CHECK(link.ok());
  return *std::move(link);
}

TEST(OutputLease, IsChargedOnceWithAllItsBytesUntilItEnds) {
  const std::shared_ptr<WorkerLink> link = PinningLink(4096);
  OutputLease* lease = link->LeaseOutput(1024);
  EXPECT_EQ(link->pinned_bytes(), 0u);
  for (int answer = 0; answer < 8; ++answer) {
    EXPECT_TRUE(lease->TryPin());
    lease->Ref();
  }
  EXPECT_EQ(link->pinned_bytes(), 1024u);
  for (int answer = 0; answer < 8; ++answer) lease->Unref();
  EXPECT_EQ(link->pinned_bytes(), 1024u) << "the batch still has it";
  lease->Unref();
  EXPECT_EQ(link->pinned_bytes(), 0u);
  link->Detach();
}

TEST(OutputLease, BeyondTheLimitItIsNotKeptAndCostsNothing) {
  const std::shared_ptr<WorkerLink> link = PinningLink(100);
  OutputLease* first = link->LeaseOutput(100);
  OutputLease* second = link->LeaseOutput(1);
  EXPECT_TRUE(first->TryPin());
  EXPECT_FALSE(second->TryPin());
  EXPECT_TRUE(first->TryPin()) << "it is kept already";
  EXPECT_EQ(link->pinned_bytes(), 100u);
  first->Unref();
  EXPECT_TRUE(second->TryPin());
  EXPECT_EQ(link->pinned_bytes(), 1u);
  second->Unref();
  link->Detach();
}

TEST(OutputLease, ItsNextLifeBeginsUncharged) {
  const std::shared_ptr<WorkerLink> link = PinningLink(100);
  OutputLease* lease = link->LeaseOutput(100);
  EXPECT_TRUE(lease->TryPin());
  lease->Unref();
  OutputLease* next = link->LeaseOutput(60);
  EXPECT_EQ(next, lease) << "the object is used again";
  EXPECT_EQ(link->pinned_bytes(), 0u);
  EXPECT_TRUE(next->TryPin());
  EXPECT_EQ(link->pinned_bytes(), 60u);
  next->Unref();
  EXPECT_EQ(link->pinned_bytes(), 0u);
  link->Detach();
}

TEST(OutputLease, TheChargeOfOneThatOutlivesItsWorkerGoesBackToo) {
  const std::shared_ptr<WorkerLink> link = PinningLink(100);
  OutputLease* lease = link->LeaseOutput(100);
  EXPECT_TRUE(lease->TryPin());
  link->Detach();
  EXPECT_EQ(link->pinned_bytes(), 100u);
  lease->Unref();
  EXPECT_EQ(link->pinned_bytes(), 0u);
}

TEST(OutputLease, ThreadsThatPinAtOnceChargeItOnce) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 100;
  const std::shared_ptr<WorkerLink> link = PinningLink(kThreads * 64);
  OutputLease* lease = nullptr;
  std::barrier together(kThreads + 1);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        together.arrive_and_wait();
        OutputLease* pinned = lease;
        EXPECT_TRUE(pinned->TryPin());
        together.arrive_and_wait();
        together.arrive_and_wait();
        pinned->Unref();
      }
    });
  }
  for (int round = 0; round < kRounds; ++round) {
    lease = link->LeaseOutput(64);
    for (int i = 1; i < kThreads; ++i) lease->Ref();
    together.arrive_and_wait();
    together.arrive_and_wait();
    EXPECT_EQ(link->pinned_bytes(), 64u) << round;
    together.arrive_and_wait();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(link->pinned_bytes(), 0u);
  link->Detach();
}

}  // namespace
}  // namespace mpsd
