#include "proto/shm/layout.h"

#include <gtest/gtest.h>

#include <memory>

#include "proto/base/platform.h"

namespace mpsd {
namespace {

template <typename A, typename B>
uint64_t Distance(const A& a, const B& b) {
  const auto from = reinterpret_cast<uintptr_t>(&a);
  const auto to = reinterpret_cast<uintptr_t>(&b);
  return from < to ? to - from : from - to;
}

// A change of these is a change of the layout: kLayoutVersion goes up with it.
TEST(Layout, TakesTheBytesThatBothSidesAgreedOn) {
  EXPECT_EQ(kLayoutVersion, 6u);
  EXPECT_EQ(sizeof(SegmentHeader), 128u);
  EXPECT_EQ(sizeof(RowRun), 24u);
  EXPECT_EQ(sizeof(InputRecord), 80u);
  EXPECT_EQ(sizeof(OutputRecord), 96u);
  EXPECT_EQ(sizeof(BatchRecord), 12416u);
  EXPECT_EQ(sizeof(CompletionRecord), 7808u);
  EXPECT_EQ(sizeof(LaneMailbox), 3 * 128u + kRingEntries * sizeof(BatchRecord));
  EXPECT_EQ(sizeof(LaneReport), 3 * 128u + kRingEntries * sizeof(CompletionRecord));
}

TEST(Layout, PlacesTheFieldsWhereBothSidesAgreedOn) {
  EXPECT_EQ(offsetof(SegmentHeader, magic), 0u);
  EXPECT_EQ(offsetof(SegmentHeader, layout_hash), 16u);
  EXPECT_EQ(offsetof(SegmentHeader, epoch), 36u);
  EXPECT_EQ(offsetof(BatchRecord, cancelled), 48u);
  EXPECT_EQ(offsetof(BatchRecord, answer_index), 52u);
  EXPECT_EQ(offsetof(BatchRecord, inputs), 64u);
  EXPECT_EQ(offsetof(BatchRecord, runs), 64 + kMaxTensors * sizeof(InputRecord));
  EXPECT_EQ(offsetof(CompletionRecord, outputs), 64u);
  EXPECT_EQ(offsetof(CompletionRecord, row_failed), 64 + kMaxTensors * sizeof(OutputRecord));
  EXPECT_EQ(offsetof(CompletionRecord, text),
            offsetof(CompletionRecord, row_failed) + kMaxBatchRows);
}

TEST(Layout, StartsEveryPartOnACacheLine) {
  EXPECT_EQ(kCacheLineBytes, 128u);
  EXPECT_EQ(alignof(SegmentHeader), 128u);
  EXPECT_EQ(alignof(BatchRecord), 128u);
  EXPECT_EQ(alignof(CompletionRecord), 128u);
  EXPECT_EQ(offsetof(LaneMailbox, records) % 128, 0u);
  EXPECT_EQ(offsetof(LaneReport, records) % 128, 0u);
  EXPECT_EQ(kLaneAreaOffset % 128, 0u);
}

// Words that are written at different moments do not share a line.
TEST(Layout, KeepsTheWordsOfALaneALineApart) {
  const auto mailbox = std::make_unique<LaneMailbox>();
  const auto report = std::make_unique<LaneReport>();
  EXPECT_GE(Distance(mailbox->submit_tail, mailbox->sequence), 128u);
  EXPECT_GE(Distance(mailbox->sequence, mailbox->completion_head), 128u);
  EXPECT_GE(Distance(report->submit_head, report->parked), 128u);
  EXPECT_GE(Distance(report->parked, report->completion_tail), 128u);
}

// One line carries a ring's tail and its entries to the peer.
TEST(Layout, KeepsTheEntriesOfARingWithItsTail) {
  EXPECT_EQ(
      offsetof(LaneMailbox, submit_tail) / 128,
      (offsetof(LaneMailbox, submit_entries) + sizeof(LaneMailbox::submit_entries) - 1) / 128);
  EXPECT_EQ(
      offsetof(LaneReport, completion_tail) / 128,
      (offsetof(LaneReport, completion_entries) + sizeof(LaneReport::completion_entries) - 1) /
          128);
}

TEST(Layout, SegmentsHoldTheirLanesAndEndOnAPage) {
  const uint64_t page = platform::PageBytes();
  for (uint32_t lanes = 1; lanes <= kMaxLanes; ++lanes) {
    const uint64_t mailbox = MailboxBytes(lanes, page);
    EXPECT_EQ(mailbox % page, 0u);
    EXPECT_GE(mailbox, kLaneAreaOffset + lanes * sizeof(LaneMailbox));
    EXPECT_LT(mailbox, kLaneAreaOffset + lanes * sizeof(LaneMailbox) + page);
    const uint64_t output = OutputAreaOffset(lanes, page);
    EXPECT_EQ(output % page, 0u);
    EXPECT_GE(output, kLaneAreaOffset + lanes * sizeof(LaneReport));
    EXPECT_LT(output, kLaneAreaOffset + lanes * sizeof(LaneReport) + page);
  }
}

TEST(Layout, HashIsTheSameWheneverItIsAsked) {
  constexpr uint64_t kAtCompileTime = LayoutHash();
  volatile uint64_t seed = 0;  // asks at run time
  EXPECT_EQ(LayoutHash() + seed, kAtCompileTime);
  EXPECT_NE(kAtCompileTime, 0u);
}

// A new segment is all zeros: no outcome that was ever written looks like that.
TEST(Layout, ZeroIsNoOutcome) {
  EXPECT_EQ(static_cast<uint32_t>(BatchOutcome::kInvalid), 0u);
  EXPECT_NE(BatchOutcome::kDone, BatchOutcome::kInvalid);
}

}  // namespace
}  // namespace mpsd
