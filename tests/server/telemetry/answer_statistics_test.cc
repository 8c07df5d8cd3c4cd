#include "server/telemetry/answer_statistics.h"

#include <gmock/gmock.h>

#include <initializer_list>
#include <thread>
#include <vector>

#include "tests/fakes/heap_count.h"

namespace mpsd {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr uint32_t kLast = AnswerStatistics::kMaxIndices - 1;

void ExpectIs(const CountAndTime& seen, uint64_t count, uint64_t ns) {
  EXPECT_EQ(seen.count, count);
  EXPECT_EQ(seen.ns, ns);
}

void ExpectNone(std::initializer_list<CountAndTime> all) {
  for (const CountAndTime& seen : all) ExpectIs(seen, 0, 0);
}

TEST(AnswerStatistics, NoneYet) { EXPECT_THAT(AnswerStatistics().Read(), IsEmpty()); }

TEST(AnswerStatistics, AnAnswerThatWasSent) {
  AnswerStatistics statistics;
  statistics.Add(1, AnswerOutcome::kSent, 30, 4);
  statistics.Add(1, AnswerOutcome::kSent, 50, 6);
  const std::vector<AnswerStatistics::Index> seen = statistics.Read();
  ASSERT_THAT(seen, SizeIs(2));
  ExpectIs(seen[1].compute_infer, 2, 80);
  ExpectIs(seen[1].compute_output, 2, 10);
  ExpectIs(seen[1].sent, 2, 90);
  ExpectNone(
      {seen[0].sent, seen[0].compute_infer, seen[1].failed, seen[1].no_more, seen[1].cancelled});
}

TEST(AnswerStatistics, AnErrorInItsPlace) {
  AnswerStatistics statistics;
  statistics.Add(0, AnswerOutcome::kFailed, 30, 4);
  const std::vector<AnswerStatistics::Index> seen = statistics.Read();
  ASSERT_THAT(seen, SizeIs(1));
  ExpectIs(seen[0].failed, 1, 34);
  ExpectNone({seen[0].sent, seen[0].compute_infer, seen[0].compute_output, seen[0].no_more,
              seen[0].cancelled});
}

TEST(AnswerStatistics, NoneLeft) {
  AnswerStatistics statistics;
  statistics.Add(0, AnswerOutcome::kNoMore, 30, 4);
  const std::vector<AnswerStatistics::Index> seen = statistics.Read();
  ASSERT_THAT(seen, SizeIs(1));
  ExpectIs(seen[0].no_more, 1, 30);
  ExpectIs(seen[0].compute_infer, 1, 30);
  ExpectNone({seen[0].compute_output, seen[0].sent});
}

TEST(AnswerStatistics, ACancelledOne) {
  AnswerStatistics statistics;
  statistics.Add(0, AnswerOutcome::kCancelled, 0, 0);
  const std::vector<AnswerStatistics::Index> seen = statistics.Read();
  ASSERT_THAT(seen, SizeIs(1));
  ExpectIs(seen[0].cancelled, 1, 0);
  ExpectNone({seen[0].compute_infer, seen[0].failed});
}

TEST(AnswerStatistics, WhatIsBeyondCountsForTheLast) {
  AnswerStatistics statistics;
  for (const uint32_t index : {kLast - 1, kLast, kLast + 1, kLast + 1'000'000, UINT32_MAX}) {
    statistics.Add(index, AnswerOutcome::kSent, 1, 0);
  }
  const std::vector<AnswerStatistics::Index> seen = statistics.Read();
  ASSERT_THAT(seen, SizeIs(AnswerStatistics::kMaxIndices));
  EXPECT_EQ(seen[kLast - 1].sent.count, 1u);
  EXPECT_EQ(seen[kLast].sent.count, 4u);
}

TEST(AnswerStatistics, TakeMemoryOnceAndNoneBeforeTheFirst) {
  int before = 0;
  int first = 0;
  int after = 0;
  {
    const HeapCount counting(&before);
    AnswerStatistics unused;
  }
  AnswerStatistics statistics;
  {
    const HeapCount counting(&first);
    statistics.Add(0, AnswerOutcome::kSent, 1, 1);
  }
  {
    const HeapCount counting(&after);
    for (uint32_t index = 0; index < 3 * kLast; ++index) {
      statistics.Add(index, AnswerOutcome::kSent, 1, 1);
    }
  }
  EXPECT_EQ(before, 0);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(after, 0);
}

TEST(AnswerStatistics, ManyThreadsLoseNone) {
  AnswerStatistics statistics;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&statistics] {
      for (uint32_t i = 0; i < 100'000; ++i) statistics.Add(i % 10, AnswerOutcome::kSent, 3, 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const AnswerStatistics::Index& index : statistics.Read()) {
    ExpectIs(index.sent, 40'000, 160'000);
  }
}

}  // namespace
}  // namespace mpsd
