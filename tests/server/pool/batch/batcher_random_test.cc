// Random operations on a batcher, with its invariants checked after each.
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "proto/base/limits.h"
#include "tests/server/pool/batch/batcher_fixture.h"

namespace mpsd {
namespace {

class RandomBatcher : public BatcherFixture, public testing::WithParamInterface<uint32_t> {
 protected:
  RandomBatcher() : random_(GetParam()) { AddMemory(1 << 18); }

  // One operation, chosen at random.
  void Perform() {
    switch (random_() % 8) {
      case 0:
      case 1:
      case 2:
        return Arrive();
      case 3:
        return Fill();
      case 4:
        return FormOne();
      case 5:
        return EndOne();
      case 6:
        return Cancel();
      default:
        return Lose();
    }
  }

  void Arrive() {
    const int64_t length = 1 + static_cast<int64_t>(random_() % 80);
    Request* request =
        NewRequest(static_cast<uint32_t>(random_() % 4 + 1), length, now_ns_ + 1 + random_() % 200);
    request->arrival_ns = now_ns_;
    request->level = static_cast<uint32_t>(random_() % 3);
    request->tenant = static_cast<uint32_t>(random_() % 3);
    request->yields = random_() % 2 == 0;
    request->LimitWait(now_ns_ + 1 + random_() % 100);
    RowTargets targets;
    if (!batcher_.Reserve(request, &targets).ok()) return;
    reserved_.push_back(request);
    // The numbers in rows tell whose they are, as long as nobody else writes to them.
    const auto mark = static_cast<float>(calls_.size());
    calls_.back().Fill(targets, mark);
    marks_[request] = {targets.inputs[0], mark};
    ++now_ns_;
  }

  void Fill() {
    if (reserved_.empty()) return;
    Request* request = Pick(&reserved_);
    batcher_.Enqueue(request);
    queued_.push_back(request);
  }

  void FormOne() {
    expired_.clear();
    const bool suspects = random_() % 2 == 0;
    while (suspects && !batcher_.suspects().empty() &&
           batcher_.suspects().head_deadline_ns <= now_ns_) {
      const uint32_t rank = batcher_.suspects().rank;
      batcher_.TakeExpiredOf(SchedulerDecision::kSuspects, rank, now_ns_, &expired_);
    }
    const bool formed = suspects ? FormSuspect() != nullptr : FormNext(&batcher_, now_ns_);
    for (Request* request : expired_) Forget(request);
    if (!formed) return;
    std::vector<Request*> batch;
    uint32_t rows = 0;
    uint32_t rank = 0;
    for (const BatchEntry& entry : batch_.entries) {
      EXPECT_EQ(entry.first_row, rows);
      EXPECT_EQ(entry.request->key, batch_.entries[0].request->key);
      EXPECT_EQ(entry.request->suspect, suspects);
      EXPECT_GE(entry.request->rank(), rank) << "who is served before, is first in the batch";
      rank = entry.request->rank();
      EXPECT_GT(entry.request->deadline_ns, now_ns_);
      entry.request->EndWait();
      rows += entry.row_count;
      batch.push_back(entry.request);
      std::erase(queued_, entry.request);
    }
    EXPECT_EQ(rows, batch_.row_count);
    EXPECT_LE(rows, spec_.max_batch_size);
    EXPECT_TRUE(!suspects || batch.size() == 1);
    uint32_t run_rows = 0;
    for (const RowRun& run : batch_.runs) {
      EXPECT_LE(run.first_row + run.row_count, run.row_capacity);
      run_rows += run.row_count;
    }
    EXPECT_EQ(run_rows, rows);
    running_.push_back(batch);
  }

  void EndOne() {
    if (running_.empty()) return;
    for (Request* request : Pick(&running_)) {
      batcher_.EndRows(request->place, request->rows);
      Forget(request);
    }
  }

  void Cancel() {
    if (queued_.empty()) return;
    Request* request = Pick(&queued_);
    batcher_.Remove(request);
    Forget(request);
  }

  // A worker dies: its batch goes again, suspect or not.
  void Lose() {
    if (running_.empty()) return;
    const bool crashed = random_() % 2 == 0;
    for (Request* request : Pick(&running_)) {
      request->suspect = request->suspect || crashed;
      batcher_.Enqueue(request);
      queued_.push_back(request);
    }
  }

  void CheckInvariants() {
    batcher_.CheckInvariants();
    std::map<uint32_t, uint32_t> live_rows;
    std::set<std::pair<uint32_t, uint32_t>> rows;
    for (const auto& [request, mark] : marks_) {
      live_rows[request->place.slab] += request->rows;
      for (uint32_t row = 0; row < request->rows; ++row) {
        ASSERT_TRUE(rows.insert({request->place.slab, request->place.first_row + row}).second);
      }
      float element = 0;
      std::memcpy(&element, mark.first, sizeof(element));
      ASSERT_EQ(element, mark.second) << "somebody else wrote to the rows of a live request";
    }
    for (const auto& [slab, count] : live_rows) {
      ASSERT_EQ(batcher_.slabs()->slab(slab).live_rows, count);
    }
  }

  void Forget(Request* request) {
    marks_.erase(request);
    std::erase(queued_, request);
  }

  template <typename T>
  T Pick(std::vector<T>* from) {
    const size_t which = random_() % from->size();
    T picked = (*from)[which];
    from->erase(from->begin() + static_cast<ptrdiff_t>(which));
    return picked;
  }

  std::mt19937 random_;
  int64_t now_ns_ = kNow;
  std::vector<Request*> reserved_;
  std::vector<Request*> queued_;
  std::vector<std::vector<Request*>> running_;
  std::map<Request*, std::pair<char*, float>> marks_;  // live requests only
};

TEST_P(RandomBatcher, KeepsItsInvariantsAndIsEmptyAtRest) {
  for (int step = 0; step < 1500; ++step) {
    Perform();
    CheckInvariants();
    if (HasFatalFailure()) return;
  }
  while (!reserved_.empty()) Fill();
  while (!queued_.empty()) Cancel();
  while (!running_.empty()) EndOne();
  EXPECT_TRUE(marks_.empty());
  EXPECT_TRUE(batcher_.suspects().empty());
  EXPECT_TRUE(Form(now_ns_).empty());
  for (uint32_t slab = 0; slab < leased_slabs(); ++slab) {
    EXPECT_EQ(batcher_.slabs()->slab(slab).live_rows, 0u);
  }
  EXPECT_LE(leased_slabs(), kMaxOpenSlabs) << "what is leased at rest is an open slab of a key";
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomBatcher, testing::Range(1u, 9u));

}  // namespace
}  // namespace mpsd
