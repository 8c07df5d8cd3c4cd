#include "worker/model/torch/stream_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/barrier.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "tests/worker/model/torch/fake_stream_device.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr StreamExhaustion kError{StreamExhaustion::kError, 0};
constexpr StreamExhaustion kWait{StreamExhaustion::kWait, 0};

class StreamSetTest : public testing::Test {
 protected:
  // Runs `lanes` threads that each take a stream, work `rounds` times, and give the stream back.
  void RunLanes(StreamSet* set, uint32_t lanes, int rounds) {
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < lanes; ++i) {
      threads.emplace_back([&] {
        absl::StatusOr<StreamLease> lease = set->Acquire();
        ASSERT_TRUE(lease.ok()) << lease.status();
        for (int round = 0; round < rounds; ++round) device_.Work();
        const int64_t stream = lease->stream();
        GiveBack(&*lease, stream);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  // Gone() comes before the stream is free again, because another thread may take it at once.
  void GiveBack(StreamLease* lease, int64_t stream) {
    EXPECT_TRUE(device_.Synchronize(stream).ok());
    device_.Gone(stream);
    lease->Release();
  }

  FakeStreamDevice device_;
};

TEST_F(StreamSetTest, StreamAssignmentMainIsZeroAndLanesHaveOthers) {
  StreamSet set(&device_, 31, kError);
  set.InitializeMainThread();
  std::set<int64_t> streams;
  std::vector<StreamLease> leases;
  leases.push_back(*set.AcquireMain());
  EXPECT_EQ(leases[0].stream(), 0);
  for (int i = 0; i < 31; ++i) leases.push_back(*set.Acquire());
  for (const StreamLease& lease : leases) streams.insert(lease.stream());
  EXPECT_EQ(streams.size(), 32u);
  EXPECT_EQ(*streams.rbegin(), 31);
}

TEST_F(StreamSetTest, NoLaneBeforeTheMainThread) {
  StreamSet set(&device_, 31, kError);
  EXPECT_EQ(set.Acquire().status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(set.AcquireMain().status().code(), absl::StatusCode::kFailedPrecondition);
  set.InitializeMainThread();
  EXPECT_TRUE(set.Acquire().ok());
}

TEST_F(StreamSetTest, TheMainStreamIsLeasedOnce) {
  StreamSet set(&device_, 31, kError);
  set.InitializeMainThread();
  const StreamLease lease = *set.AcquireMain();
  EXPECT_EQ(set.AcquireMain().status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(StreamSetTest, PoolBoundariesThe32ndOtherIsRefused) {
  StreamSet set(&device_, 31, kError);
  set.InitializeMainThread();
  std::vector<StreamLease> leases;
  for (int i = 0; i < 31; ++i) leases.push_back(*set.Acquire());
  const absl::StatusOr<StreamLease> one_more = set.Acquire();
  EXPECT_EQ(one_more.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(one_more.status().message()), HasSubstr("31 of 31 are leased"));
  EXPECT_TRUE(set.AcquireMain().ok()) << "the main stream is none of the 31";
  leases.pop_back();
  EXPECT_TRUE(set.Acquire().ok());
}

TEST_F(StreamSetTest, ARuntimeWithoutAPoolGivesNoSecondStream) {
  FakeStreamDevice stock(/*pool=*/0);
  StreamSet set(&stock, 31, kError);
  set.InitializeMainThread();
  EXPECT_TRUE(set.AcquireMain().ok());
  EXPECT_THAT(std::string(set.Acquire().status().message()), HasSubstr("set placement.lanes"));
}

TEST_F(StreamSetTest, ARuntimeWithFewerStreamsIsNoticed) {
  FakeStreamDevice small(/*pool=*/3);
  StreamSet set(&small, 31, kError);
  set.InitializeMainThread();
  std::vector<StreamLease> leases;
  for (int i = 0; i < 3; ++i) leases.push_back(*set.Acquire());
  EXPECT_THAT(std::string(set.Acquire().status().message()), HasSubstr("gives 3 lanes a stream"));
}

TEST_F(StreamSetTest, AStreamGoesBackOnlyAfterItWasWaitedFor) {
  StreamSet set(&device_, 31, kError);
  set.InitializeMainThread();
  absl::StatusOr<StreamLease> lease = set.Acquire();
  const int64_t stream = lease->stream();
  device_.Work();
  EXPECT_THAT(device_.waits(), IsEmpty());
  lease->Release();
  device_.Gone(stream);
  EXPECT_THAT(device_.waits(), ElementsAre(stream)) << "its own stream, and no other";
  EXPECT_THAT(device_.faults(), IsEmpty());
  EXPECT_EQ(set.leased(), 0u);
}

TEST_F(StreamSetTest, AStreamThatCannotBeWaitedForIsNeverGivenAgain) {
  StreamSet set(&device_, 2, kError);
  set.InitializeMainThread();
  absl::StatusOr<StreamLease> broken = set.Acquire();
  device_.Break(broken->stream());
  broken->Release();
  EXPECT_EQ(set.leased(), 1u);
  const StreamLease other = *set.Acquire();
  EXPECT_NE(other.stream(), 1);
  EXPECT_FALSE(set.Acquire().ok());
}

TEST_F(StreamSetTest, ALeaseMovesAndIsReleasedOnce) {
  StreamSet set(&device_, 31, kError);
  set.InitializeMainThread();
  StreamLease first = *set.Acquire();
  StreamLease second = std::move(first);
  EXPECT_FALSE(first.held());  // NOLINT(bugprone-use-after-move): the test is about this
  EXPECT_TRUE(second.held());
  second = *set.Acquire();
  EXPECT_EQ(set.leased(), 1u) << "what was overwritten went back";
  second.Release();
  second.Release();
  EXPECT_EQ(set.leased(), 0u);
}

TEST_F(StreamSetTest, ExhaustionThatWaitsGoesOnWhenAStreamIsBack) {
  StreamSet set(&device_, 1, kWait);
  set.InitializeMainThread();
  StreamLease held = *set.Acquire();
  std::atomic<bool> acquired{false};
  std::thread waiter([&] {
    const absl::StatusOr<StreamLease> lease = set.Acquire();
    acquired = lease.ok();
  });
  EXPECT_FALSE(acquired);
  held.Release();
  waiter.join();
  EXPECT_TRUE(acquired);
}

TEST_F(StreamSetTest, ExhaustionThatWaitsForATimeEndsInAnError) {
  StreamSet set(&device_, 1, {StreamExhaustion::kWaitLimited, 1'000'000});
  set.InitializeMainThread();
  const StreamLease held = *set.Acquire();
  EXPECT_EQ(set.Acquire().status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(StreamSetTest, OversubscriptionQueuesMoreLanesThanStreams) {
  StreamSet set(&device_, 31, kWait);
  set.InitializeMainThread();
  RunLanes(&set, 64, 10);
  EXPECT_THAT(device_.faults(), IsEmpty());
  EXPECT_EQ(set.leased(), 0u);
}

TEST_F(StreamSetTest, ThreadChurnUsesStreamsAgain) {
  for (const uint32_t lanes : {8u, 16u, 31u}) {
    StreamSet set(&device_, 31, kError);
    set.InitializeMainThread();
    for (int generation = 0; generation < 20; ++generation) RunLanes(&set, lanes, 1);
    EXPECT_EQ(set.leased(), 0u);
  }
  EXPECT_THAT(device_.faults(), IsEmpty());
}

// Tests of the fake itself: it must notice misuse.
TEST(FakeStreamDevice, NoticesASharedStream) {
  FakeStreamDevice device;
  device.MakeCurrent(5);
  device.Work();
  std::thread([&] {
    device.MakeCurrent(5);
    device.Work();
  }).join();
  EXPECT_THAT(device.faults(), ElementsAre("a stream is shared"));
}

TEST(FakeStreamDevice, NoticesAReturnWithWorkOnTheStreamAndUseAfterIt) {
  FakeStreamDevice device;
  device.MakeCurrent(5);
  device.Work();
  device.Gone(5);
  device.Work();
  EXPECT_THAT(device.faults(), ElementsAre("a stream went back with work on it",
                                           "work on a thread without a stream"));
}

}  // namespace
}  // namespace mpsd
