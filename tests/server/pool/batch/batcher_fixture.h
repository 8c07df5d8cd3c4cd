// BatcherFixture: a batcher with memory, and requests for it.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <vector>

#include "server/pool/batch/batcher.h"
#include "server/pool/schedule/predictive_scheduler.h"
#include "tests/fakes/fake_call.h"

namespace mpsd {

// A model of batches of at most four rows of up to 16 floats. Requests are known by pointers that
// stay. Lives on the test's thread.
class BatcherFixture : public testing::Test {
 protected:
  static constexpr int64_t kNow = 1000;

  BatcherFixture() : BatcherFixture(4) {}
  explicit BatcherFixture(uint32_t max_batch_size, int64_t max_delay_ns = 0,
                          uint64_t most_tokens = 0)
      : scheduler_(1, max_delay_ns), batcher_(&spec_, most_tokens) {
    spec_.max_batch_size = max_batch_size;
    spec_.inputs = {{"IN", DataType::kFp32, {-1}}};
  }

  // Ends the duty of each reply, which nobody here is to give.
  void TearDown() override {
    for (FakeCall& call : calls_) {
      if (call.request.reply.owed()) call.request.reply.Fail(absl::OkStatus());
    }
  }

  void AddMemory(uint64_t bytes = 1 << 20) {
    absl::StatusOr<OwnedSegment> segment = OwnedSegment::Create(SegmentKind::kSlabs, bytes, 0);
    ASSERT_TRUE(segment.ok()) << segment.status();
    batcher_.slabs()->AddSegment(*std::move(segment), batcher_.slabs()->segment_count());
  }

  Request* NewRequest(uint32_t rows = 1, int64_t length = 2, int64_t deadline_ns = 2 * kNow) {
    FakeCall& call = calls_.emplace_back();
    call.Describe(rows, {length}, kNow, deadline_ns - kNow);
    return &call.request;
  }

  Request* Reserve(uint32_t rows = 1, int64_t length = 2, int64_t deadline_ns = 2 * kNow) {
    Request* request = NewRequest(rows, length, deadline_ns);
    RowTargets targets;
    EXPECT_TRUE(batcher_.Reserve(request, &targets).ok());
    return request;
  }

  Request* Enqueue(uint32_t rows = 1, int64_t length = 2, int64_t deadline_ns = 2 * kNow) {
    Request* request = Reserve(rows, length, deadline_ns);
    batcher_.Enqueue(request);
    return request;
  }

  // Carries out what the scheduler decides for one free lane, until there is a batch. False when
  // none is due.
  bool FormNext(Batcher* batcher, int64_t now_ns) {
    batch_.Clear();
    while (true) {
      const SchedulerDecision decision = Decide(*batcher, now_ns);
      switch (decision.step) {
        case SchedulerDecision::Step::kDrop:
          batcher->TakeExpiredOf(decision.line, decision.rank, decision.at_ns, &expired_);
          continue;
        case SchedulerDecision::Step::kRun:
          batcher->Form(decision.line, decision.max_rows, &batch_);
          CheckCovers(batch_, batcher->slab_table());
          batcher->CheckInvariants();
          return true;
        default:
          return false;
      }
    }
  }

  // The decision of a pool with one free lane, suspects aside.
  SchedulerDecision Decide(const Batcher& batcher, int64_t now_ns) const {
    static constexpr WorkerView kWorker;
    static constexpr LaneView kLane;
    return scheduler_.Decide({.lines = batcher.lines(),
                              .lanes = {&kLane, 1},
                              .workers = {&kWorker, 1},
                              .max_batch_rows = batcher.max_rows()},
                             now_ns);
  }

  // The requests of the next batch; none when nobody is due.
  std::vector<Request*> Form(int64_t now_ns = kNow) {
    std::vector<Request*> requests;
    const bool formed = FormNext(&batcher_, now_ns);
    EXPECT_EQ(formed, !batch_.entries.empty());
    for (const BatchEntry& entry : batch_.entries) requests.push_back(entry.request);
    return requests;
  }

  // The next suspect, alone; null when there is none.
  Request* FormSuspect() {
    batch_.Clear();
    if (batcher_.suspects().empty()) return nullptr;
    batcher_.Form(SchedulerDecision::kSuspects, batcher_.max_rows(), &batch_);
    CheckCovers(batch_, batcher_.slab_table());
    EXPECT_EQ(batch_.entries.size(), 1u);
    return batch_.entries.front().request;
  }

  // When the first line is due; INT64_MIN: now. Nothing when nobody waits.
  std::optional<int64_t> NextDueNs() const {
    const SchedulerDecision decision = Decide(batcher_, INT64_MIN);
    if (decision.step != SchedulerDecision::Step::kWait) return INT64_MIN;
    if (decision.at_ns == SchedulerDecision::kNever) return std::nullopt;
    return decision.at_ns;
  }

  // The batch has come back.
  void End(const std::vector<Request*>& requests) {
    for (Request* request : requests) batcher_.EndRows(request->place, request->rows);
  }

  uint32_t leased_slabs() { return batcher_.slabs()->leased_count(); }

  ModelSpec spec_;
  std::deque<FakeCall> calls_;
  FormedBatch batch_;
  PredictiveScheduler scheduler_;
  std::vector<Request*> expired_;
  Batcher batcher_;
};

}  // namespace mpsd
