#include "worker/consume/attachment.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <functional>
#include <thread>

#include "tests/worker/consume/front_memory.h"

namespace mpsd {
namespace {

constexpr uint32_t kLanes = 2;
constexpr uint32_t kEpoch = 6;

class AttachmentTest : public testing::Test {
 protected:
  absl::StatusOr<Attachment> Map(const AttachOrder& order, std::vector<UniqueFd> fds) const {
    return Attachment::Map(order, std::move(fds), kLanes, kEpoch);
  }
  Attachment Map() const { return Map(front_.Order(), front_.Fds()).value(); }

  FrontMemory front_{kLanes};
};

TEST_F(AttachmentTest, FindsTheLanesWords) {
  const Attachment attachment = Map();
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    front_.mailbox(lane)->submit_tail.store(10 + lane);
    EXPECT_EQ(attachment.mailbox(lane).submit_tail.load(), 10 + lane);
    attachment.report(lane)->heartbeat.store(20 + lane);
    EXPECT_EQ(front_.report(lane)->heartbeat.load(), 20 + lane);
  }
  front_.page()->front_parked.store(1);
  EXPECT_EQ(attachment.mailbox_page().front_parked.load(), 1u);
}

TEST_F(AttachmentTest, WritesTheWorkerSegmentsHeader) {
  const Attachment attachment = Map();
  const auto& header = *reinterpret_cast<const SegmentHeader*>(front_.worker_data());
  EXPECT_TRUE(CheckHeader(header, SegmentKind::kWorker, front_.worker_bytes()).ok());
  EXPECT_EQ(header.epoch, kEpoch);
  const char* page = front_.worker_data() + sizeof(SegmentHeader);
  EXPECT_EQ(reinterpret_cast<const WorkerPage*>(page)->lanes, kLanes);
}

TEST_F(AttachmentTest, RingsTheFrontEndsBell) {
  const Attachment attachment = Map();
  pollfd waited{front_.bell_poll_fd(), POLLIN, 0};
  EXPECT_EQ(poll(&waited, 1, 0), 0);
  platform::RingBell(attachment.bell_fd());
  EXPECT_EQ(poll(&waited, 1, 0), 1);
}

TEST_F(AttachmentTest, GivesSlabBytesInsideTheSegmentOnly) {
  const Attachment attachment = Map();
  const uint64_t page = FrontMemory::Page();
  const uint64_t first = sizeof(SegmentHeader);
  front_.slab(1)[first] = 'x';
  ASSERT_NE(attachment.SlabBytes(1, first, 1), nullptr);
  EXPECT_EQ(*attachment.SlabBytes(1, first, 1), 'x');
  EXPECT_NE(attachment.SlabBytes(0, first, page - first), nullptr);
  EXPECT_NE(attachment.SlabBytes(0, page, 0), nullptr);
  EXPECT_EQ(attachment.SlabBytes(0, first - 1, 1), nullptr);
  EXPECT_EQ(attachment.SlabBytes(0, first, page - first + 1), nullptr);
  EXPECT_EQ(attachment.SlabBytes(0, page, 1), nullptr);
  EXPECT_EQ(attachment.SlabBytes(0, page + 1, 0), nullptr);
  EXPECT_EQ(attachment.SlabBytes(0, first, UINT64_MAX), nullptr);
  EXPECT_EQ(attachment.SlabBytes(0, UINT64_MAX, 1), nullptr);
  EXPECT_EQ(attachment.SlabBytes(2, first, 1), nullptr);
  EXPECT_EQ(attachment.SlabBytes(UINT32_MAX, first, 1), nullptr);
}

TEST_F(AttachmentTest, GivesOutputBytesInsideTheAreaOnly) {
  const Attachment attachment = Map();
  const uint64_t first = front_.output_offset();
  const uint64_t end = front_.worker_bytes();
  char* output = attachment.OutputBytes(first, end - first);
  ASSERT_NE(output, nullptr);
  output[0] = 'x';
  EXPECT_EQ(front_.worker_data()[first], 'x');
  EXPECT_EQ(attachment.OutputBytes(first - 1, 1), nullptr);
  EXPECT_EQ(attachment.OutputBytes(0, 1), nullptr);
  EXPECT_EQ(attachment.OutputBytes(first, end - first + 1), nullptr);
  EXPECT_EQ(attachment.OutputBytes(end, 1), nullptr);
  EXPECT_EQ(attachment.OutputBytes(end - 1, UINT64_MAX), nullptr);
}

TEST_F(AttachmentTest, RefusesAFrontEndOfAnotherBuild) {
  AttachOrder order = front_.Order();
  order.layout_hash ^= 1;
  EXPECT_EQ(Map(order, front_.Fds()).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(AttachmentTest, RefusesAnotherSegmentForTheMailbox) {
  AttachOrder order = front_.Order();
  std::vector<UniqueFd> fds = front_.Fds();
  const OwnedSegment slabs =
      OwnedSegment::Create(SegmentKind::kSlabs, order.mailbox_bytes, 0).value();
  fds[0].Reset(dup(slabs.peer_fd()));
  EXPECT_EQ(Map(order, std::move(fds)).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(AttachmentTest, RefusesAWorkerSegmentThatItCannotWrite) {
  AttachOrder order = front_.Order();
  std::vector<UniqueFd> fds = front_.Fds();
  const OwnedSegment slabs =
      OwnedSegment::Create(SegmentKind::kSlabs, order.worker_segment_bytes, 0).value();
  fds[1].Reset(dup(slabs.peer_fd()));
  EXPECT_FALSE(Map(order, std::move(fds)).ok());
}

struct OrderCase {
  const char* name;
  std::function<void(AttachOrder*, std::vector<UniqueFd>*)> change;
};

class WrongOrder : public AttachmentTest, public testing::WithParamInterface<OrderCase> {};

TEST_P(WrongOrder, IsRefused) {
  AttachOrder order = front_.Order();
  std::vector<UniqueFd> fds = front_.Fds();
  GetParam().change(&order, &fds);
  EXPECT_FALSE(Map(order, std::move(fds)).ok());
}

INSTANTIATE_TEST_SUITE_P(
    Each, WrongOrder,
    testing::Values(
        OrderCase{"NoDescriptors", [](AttachOrder*, auto* fds) { fds->clear(); }},
        OrderCase{"OneDescriptorLess", [](AttachOrder*, auto* fds) { fds->pop_back(); }},
        OrderCase{"OneDescriptorMore", [](AttachOrder*, auto* fds) { fds->emplace_back(dup(0)); }},
        OrderCase{"OneSlabLess", [](AttachOrder* o, auto*) { o->slab_segment_bytes.pop_back(); }},
        OrderCase{"MailboxTooSmallForTheLanes",
                  [](AttachOrder* o, auto*) { o->mailbox_bytes -= FrontMemory::Page(); }},
        OrderCase{"MailboxLargerThanItsMemory",
                  [](AttachOrder* o, auto*) { o->mailbox_bytes += FrontMemory::Page(); }},
        OrderCase{"WorkerSegmentTooSmallForTheLanes",
                  [](AttachOrder* o, auto*) {
                    o->worker_segment_bytes = OutputAreaOffset(kLanes, FrontMemory::Page()) - 1;
                  }},
        OrderCase{"WorkerSegmentLargerThanItsMemory",
                  [](AttachOrder* o, auto*) { o->worker_segment_bytes += FrontMemory::Page(); }},
        OrderCase{"SlabLargerThanItsMemory",
                  [](AttachOrder* o, auto*) { o->slab_segment_bytes[1] += FrontMemory::Page(); }},
        OrderCase{"NotMemoryAtAll",
                  [](AttachOrder*, auto* fds) { (*fds)[3].Reset(dup((*fds)[2].get())); }}),
    [](const auto& tested) { return tested.param.name; });

// ---- segments that come and go ----

class FollowTest : public AttachmentTest {
 protected:
  absl::StatusOr<Message> Follow(Message message, int fd = -1) {
    MessageReader::Received order{std::move(message), {}};
    if (fd >= 0) order.fds.emplace_back(dup(fd));
    return attachment_.Follow(std::move(order));
  }

  Attachment attachment_ = Map();
  const OwnedSegment more_ =
      OwnedSegment::Create(SegmentKind::kSlabs, 2 * FrontMemory::Page(), 0).value();
};

TEST_F(FollowTest, MapsAndUnmapsASegment) {
  const uint64_t first = sizeof(SegmentHeader);
  EXPECT_EQ(attachment_.SlabBytes(7, first, 1), nullptr);
  const absl::StatusOr<Message> mapped = Follow(SlabsAdded{7, more_.bytes()}, more_.peer_fd());
  ASSERT_TRUE(mapped.ok()) << mapped.status();
  EXPECT_EQ(std::get<SlabsMapped>(*mapped).number, 7u);
  more_.data()[first] = 'y';
  ASSERT_NE(attachment_.SlabBytes(7, first, more_.bytes() - first), nullptr);
  EXPECT_EQ(*attachment_.SlabBytes(7, first, 1), 'y');
  EXPECT_EQ(attachment_.SlabBytes(7, first, more_.bytes() - first + 1), nullptr);
  const absl::StatusOr<Message> unmapped = Follow(SlabsRemoved{7});
  ASSERT_TRUE(unmapped.ok());
  EXPECT_EQ(std::get<SlabsUnmapped>(*unmapped).number, 7u);
  EXPECT_EQ(attachment_.SlabBytes(7, first, 1), nullptr);
  EXPECT_TRUE(Follow(SlabsAdded{7, more_.bytes()}, more_.peer_fd()).ok()) << "the number is free";
}

TEST_F(FollowTest, RefusesWhatCannotBe) {
  const int fd = more_.peer_fd();
  EXPECT_FALSE(Follow(SlabsAdded{kMaxSlabSegments, more_.bytes()}, fd).ok());
  EXPECT_FALSE(Follow(SlabsAdded{1, more_.bytes()}, fd).ok()) << "the number is taken";
  EXPECT_FALSE(Follow(SlabsAdded{7, more_.bytes()}).ok()) << "no descriptor";
  EXPECT_FALSE(Follow(SlabsAdded{7, 1}, fd).ok());
  EXPECT_FALSE(Follow(SlabsAdded{7, more_.bytes() + FrontMemory::Page()}, fd).ok());
  EXPECT_FALSE(Follow(SlabsAdded{7, front_.Order().mailbox_bytes}, front_.Fds()[0].get()).ok());
  EXPECT_FALSE(Follow(SlabsRemoved{7}).ok());
  EXPECT_FALSE(Follow(SlabsRemoved{UINT32_MAX}).ok());
  EXPECT_FALSE(Follow(Ready{}).ok());
  EXPECT_EQ(attachment_.SlabBytes(7, sizeof(SegmentHeader), 1), nullptr);
}

TEST_F(FollowTest, IsRefusedToAnotherThreadThanTheFollower) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  attachment_.BindFollower();
  EXPECT_FALSE(Follow(Ready{}).ok());
  EXPECT_DEATH(std::thread([this] { Follow(Ready{}).IgnoreError(); }).join(), "check failed");
}

}  // namespace
}  // namespace mpsd
