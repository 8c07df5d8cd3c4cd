#include "server/pool/lanes/worker_link.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <cstring>
#include <thread>

namespace mpsd {
namespace {

std::shared_ptr<WorkerLink> LinkOf(uint64_t output_bytes, uint64_t pin_limit_bytes = 1 << 20) {
  WorkerLink::Options options;
  options.outputs.bytes = output_bytes;
  options.outputs.pin_limit_bytes = pin_limit_bytes;
  absl::StatusOr<std::shared_ptr<WorkerLink>> link = WorkerLink::Create(options);
  MPSD_CHECK(link.ok());
  return *std::move(link);
}

bool Rung(const WorkerLink& link) {
  pollfd bell = {link.bell().poll_fd.get(), POLLIN, 0};
  return poll(&bell, 1, 0) == 1;
}

TEST(WorkerLink, LeasesDoNotOverlapAndLieInTheArea) {
  const std::shared_ptr<WorkerLink> link = LinkOf(256);
  OutputLease* first = link->LeaseOutput(100);
  OutputLease* second = link->LeaseOutput(64);
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  EXPECT_GE(second->offset(), first->offset() + 100);
  EXPECT_EQ(second->offset() % kTensorAlignment, 0u);
  EXPECT_GE(first->offset(), OutputAreaOffset(1, platform::PageBytes()));
  EXPECT_LE(second->offset() + 64, link->worker_segment().bytes());
  EXPECT_EQ(link->LeaseOutput(128), nullptr);
  first->Unref();
  second->Unref();
  link->Detach();
}

TEST(WorkerLink, ASumOfTheWorkersThatGoesDownCountsForNothing) {
  const std::shared_ptr<WorkerLink> link = LinkOf(64);
  const OwnedSegment& segment = link->worker_segment();
  auto workers = MappedSegment::Map(UniqueFd(dup(segment.peer_fd())), segment.bytes(), true);
  ASSERT_TRUE(workers.ok()) << workers.status();
  auto* report = reinterpret_cast<LaneReport*>(workers->data() + kLaneAreaOffset);
  report->memory_trims.store(5);
  EXPECT_EQ(link->TakeCounts().memory_trims, 5u);
  report->memory_trims.store(3);
  EXPECT_EQ(link->TakeCounts().memory_trims, 0u);
  report->memory_trims.store(7);
  EXPECT_EQ(link->TakeCounts().memory_trims, 2u);
  link->Detach();
}

// The bell is the worker's to ring: a release, which may come from any thread, must not meet it.
TEST(WorkerLink, ReleasesMakeRoomAndLeaveTheBellAlone) {
  const std::shared_ptr<WorkerLink> link = LinkOf(64);
  OutputLease* lease = link->LeaseOutput(64);
  EXPECT_EQ(link->LeaseOutput(64), nullptr);
  lease->Unref();
  EXPECT_FALSE(Rung(*link));
  lease = link->LeaseOutput(64);
  ASSERT_NE(lease, nullptr);
  lease->Unref();
  link->Detach();
}

TEST(WorkerLink, ALeaseIsFreeWhenItsLastReferenceGoes) {
  const std::shared_ptr<WorkerLink> link = LinkOf(64);
  OutputLease* lease = link->LeaseOutput(64);
  lease->Ref();
  lease->Unref();
  EXPECT_EQ(link->LeaseOutput(64), nullptr);
  lease->Unref();
  lease = link->LeaseOutput(64);
  ASSERT_NE(lease, nullptr);
  lease->Unref();
  link->Detach();
}

TEST(WorkerLink, LivesUntilItsLastLeaseGoes) {
  std::shared_ptr<WorkerLink> link = LinkOf(64);
  const std::weak_ptr<WorkerLink> seen = link;
  OutputLease* lease = link->LeaseOutput(64);
  const char* data = link->OutputData(lease->offset());
  link->Detach();
  link.reset();
  ASSERT_FALSE(seen.expired());
  EXPECT_EQ(data[0], 0) << "still mapped";
  lease->Unref();
  EXPECT_TRUE(seen.expired());
}

TEST(WorkerLink, IsGoneWithItsPoolWhenNoLeaseIsOut) {
  std::shared_ptr<WorkerLink> link = LinkOf(64);
  const std::weak_ptr<WorkerLink> seen = link;
  link->LeaseOutput(64)->Unref();
  link->Detach();
  link.reset();
  EXPECT_TRUE(seen.expired());
}

// Releases that race with the detachment are lost by nobody and freed once.
TEST(WorkerLink, ReleasesRaceWithDetachment) {
  for (int round = 0; round < 200; ++round) {
    std::shared_ptr<WorkerLink> link = LinkOf(64 * 8);
    const std::weak_ptr<WorkerLink> seen = link;
    std::vector<OutputLease*> leases;
    for (int i = 0; i < 8; ++i) leases.push_back(link->LeaseOutput(64));
    std::thread releases([&leases] {
      for (OutputLease* lease : leases) lease->Unref();
    });
    link->Detach();
    link.reset();
    releases.join();
    ASSERT_TRUE(seen.expired()) << round;
  }
}

TEST(WorkerLink, TheFrontEndCannotWriteTheWorkersSegmentNorTheWorkerTheMailbox) {
  const std::shared_ptr<WorkerLink> link = LinkOf(64);
  const int mailbox = link->mailbox_segment().peer_fd();
  EXPECT_FALSE(platform::MapSharedMemory(mailbox, link->mailbox_segment().bytes(), true).ok());
  EXPECT_DEATH(*link->worker_segment().data() = 1, "");
}

TEST(WorkerLink, SharedBytesIsWhatItsSegmentsTake) {
  WorkerLink::Options options;
  options.lanes = 3;
  options.outputs.bytes = 100'000;
  const absl::StatusOr<std::shared_ptr<WorkerLink>> link = WorkerLink::Create(options);
  ASSERT_TRUE(link.ok());
  EXPECT_EQ(WorkerLink::SharedBytes(options),
            (*link)->mailbox_segment().bytes() + (*link)->worker_segment().bytes());
  EXPECT_EQ((*link)->ports().size(), 3u);
}

TEST(WorkerLink, CountsTheLeasesThatAreOut) {
  const std::shared_ptr<WorkerLink> link = LinkOf(256);
  EXPECT_EQ(link->leases_out(), 0u);
  OutputLease* first = link->LeaseOutput(64);
  OutputLease* second = link->LeaseOutput(64);
  second->Ref();
  EXPECT_EQ(link->leases_out(), 2u);
  first->Unref();
  second->Unref();
  EXPECT_EQ(link->leases_out(), 1u) << "an answer holds it";
  link->Detach();
  second->Unref();
  EXPECT_EQ(link->leases_out(), 0u);
}

// What the memory was charged to is told only when the memory is gone.
TEST(WorkerLink, KeepsItsTokenUntilTheLastAnswerIsRead) {
  std::shared_ptr<WorkerLink> link = LinkOf(64);
  auto token = std::make_shared<int>(1);
  const std::weak_ptr<int> charged = token;
  link->HoldUntilUnmapped(std::move(token));
  OutputLease* lease = link->LeaseOutput(64);
  link->Detach();
  link.reset();
  EXPECT_FALSE(charged.expired());
  lease->Unref();
  EXPECT_TRUE(charged.expired());
}

TEST(WorkerLinkDeath, OneReferenceTooFewIsAFalseBelief) {
  const std::shared_ptr<WorkerLink> link = LinkOf(64);
  OutputLease* lease = link->LeaseOutput(64);
  lease->Unref();
  EXPECT_DEATH(lease->Unref(), "check failed");
  link->Detach();
}

}  // namespace
}  // namespace mpsd
