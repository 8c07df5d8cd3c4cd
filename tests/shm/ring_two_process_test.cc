// Both ends of a lane in two processes, each with the other's segment mapped read-only.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/shm/segment.h"
#include "tests/shm/hop_ends.h"

namespace mpsd {
namespace {

constexpr uint64_t kHops = 5'000;  // where others keep the cores busy, a hop costs a time slice
constexpr uint32_t kEpoch = 9;

class RingTwoProcess : public testing::Test {
 protected:
  // Starts the peer, which has this patience before each sleep, and hands it the segments.
  void StartPeer(uint32_t looks) {
    auto sockets = platform::SocketPair().value();
    platform::SpawnOptions options;
    options.path = MPSD_RING_PEER;
    options.arguments = {absl::StrCat(looks)};
    options.control_fd = std::move(sockets.second);
    options.output_fd = UniqueFd(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
    const pid_t pid = platform::Spawn(std::move(options)).value();
    pid_ = pid;
    control_ = std::move(sockets.first);
    const int fds[] = {mailbox_.peer_fd(), worker_.peer_fd(), bell_.ring_fd.get()};
    ASSERT_TRUE(platform::SendWithFds(control_.get(), absl::MakeConstSpan("x", 1), fds).ok());
  }

  // Sends kHops ids around, one at a time; the front end has this patience before each sleep.
  void Hop(uint32_t looks) {
    FrontHops front(reinterpret_cast<MailboxPage*>(mailbox_.data() + sizeof(SegmentHeader)),
                    reinterpret_cast<LaneMailbox*>(mailbox_.data() + kLaneAreaOffset),
                    reinterpret_cast<const LaneReport*>(worker_.data() + kLaneAreaOffset),
                    bell_.poll_fd.get(), [looks] { return looks; });
    for (uint64_t id = 0; id < kHops && front.lost_wakes() == 0; ++id) {
      front.Submit(id);
      ASSERT_EQ(front.Take(), id);
    }
    front.Submit(kStopHop);
    ASSERT_EQ(front.Take(), kStopHop);
    EXPECT_EQ(front.lost_wakes(), 0u);
    parks_ = front.parks();
    wakes_ = front.wakes();
  }

  void ExpectPeerEndsWell() {
    int status = -1;
    ASSERT_EQ(waitpid(pid_, &status, 0), pid_);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    const auto& header = *reinterpret_cast<const SegmentHeader*>(worker_.data());
    EXPECT_TRUE(CheckHeader(header, SegmentKind::kWorker, worker_.bytes()).ok());
    EXPECT_EQ(header.epoch, kEpoch);
  }

  static OwnedSegment Create(SegmentKind kind, uint64_t bytes) {
    return OwnedSegment::Create(kind, bytes, kEpoch).value();
  }

  OwnedSegment mailbox_ = Create(SegmentKind::kMailbox, MailboxBytes(1, platform::PageBytes()));
  OwnedSegment worker_ = Create(SegmentKind::kWorker, OutputAreaOffset(1, platform::PageBytes()));
  platform::Bell bell_ = platform::CreateBell().value();
  UniqueFd control_;
  pid_t pid_ = -1;
  uint64_t parks_ = 0;
  uint64_t wakes_ = 0;
};

TEST_F(RingTwoProcess, LosesNoWakeWhenBothSleepBetweenHops) {
  ASSERT_NO_FATAL_FAILURE(StartPeer(/*looks=*/0));
  ASSERT_NO_FATAL_FAILURE(Hop(/*looks=*/0));
  EXPECT_GT(parks_, kHops / 10) << "the front end hardly slept, so this says little";
  EXPECT_GT(wakes_, kHops / 10) << "the peer hardly slept, so this says little";
  ExpectPeerEndsWell();
}

TEST_F(RingTwoProcess, LosesNoWakeWhenBothStayAwakeForAWhile) {
  ASSERT_NO_FATAL_FAILURE(StartPeer(/*looks=*/20'000));
  ASSERT_NO_FATAL_FAILURE(Hop(/*looks=*/20'000));
  ExpectPeerEndsWell();
}

TEST_F(RingTwoProcess, LosesNoWakeWhenOnlyTheFrontEndSleeps) {
  ASSERT_NO_FATAL_FAILURE(StartPeer(/*looks=*/20'000));
  ASSERT_NO_FATAL_FAILURE(Hop(/*looks=*/0));
  EXPECT_GT(parks_, kHops / 10) << "the front end hardly slept, so this says little";
  ExpectPeerEndsWell();
}

}  // namespace
}  // namespace mpsd
