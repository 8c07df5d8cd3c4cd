#include "server/pool/batch/batcher.h"

#include <gmock/gmock.h>

#include <cstring>
#include <utility>

#include "proto/base/limits.h"
#include "server/pool/batch/slab_sizing.h"
#include "tests/server/pool/batch/batcher_fixture.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class BatcherTest : public BatcherFixture {
 protected:
  BatcherTest() { AddMemory(); }
};

class SingleRequestBatcher : public BatcherFixture {
 protected:
  SingleRequestBatcher() : BatcherFixture(0) { AddMemory(platform::PageBytes()); }
};

TEST_F(BatcherTest, RowsThatLieBehindEachOtherAreOneRun) {
  Request* first = Enqueue(1);
  Request* second = Enqueue(2);
  EXPECT_THAT(Form(), ElementsAre(first, second));
  ASSERT_THAT(batch_.runs, SizeIs(1));
  EXPECT_EQ(batch_.runs[0].first_row, 0u);
  EXPECT_EQ(batch_.runs[0].row_count, 3u);
  EXPECT_EQ(batch_.runs[0].row_capacity, SlabRows(spec_, std::vector<uint64_t>{8}));
  EXPECT_EQ(batch_.row_count, 3u);
  EXPECT_EQ(batch_.entries[0].first_row, 0u);
  EXPECT_EQ(batch_.entries[1].first_row, 1u);
  EXPECT_EQ(batch_.entries[1].row_count, 2u);
  EXPECT_EQ(first->state, RequestState::kRunning);
}

TEST_F(BatcherTest, TargetsPointIntoTheRegionOfEachInput) {
  spec_.inputs.push_back({"MASK", DataType::kUint8, {3}});
  const auto reserve = [this](RowTargets* targets) {
    Request* request = NewRequest(2);
    RequestInput& mask = request->inputs.emplace_back();
    mask.datatype = DataType::kUint8;
    mask.padded_dims = mask.dims = {3};
    mask.row_bytes = 3;
    request->key.push_back(3);
    ASSERT_TRUE(batcher_.Reserve(request, targets).ok());
  };
  RowTargets first;
  RowTargets second;
  reserve(&first);
  reserve(&second);
  ASSERT_THAT(first.inputs, SizeIs(2));
  EXPECT_EQ(second.inputs[0] - first.inputs[0], 2 * 8);
  EXPECT_EQ(second.inputs[1] - first.inputs[1], 2 * 3);
  const uint64_t region =
      SlabTable::Bytes(std::vector<uint64_t>{8}, SlabRows(spec_, std::vector<uint64_t>{8, 3}));
  EXPECT_EQ(first.inputs[1] - first.inputs[0], static_cast<ptrdiff_t>(region));
}

// Row 1 of a slab follows row 0 of its own, not of another.
class TwoSlabs : public BatcherFixture {
 protected:
  // A batch of row 0 of a slab and row 1 of the next.
  void FormOfTwo(int64_t length) {
    Request* first = Enqueue(1, length);
    Request* other = first;
    while (other->place.slab == first->place.slab) other = Reserve(1, length);
    Request* second = Enqueue(1, length);
    ASSERT_EQ(other->place.first_row, first->place.first_row);
    ASSERT_EQ(second->place.slab, other->place.slab);
    ASSERT_EQ(second->place.first_row, first->place.first_row + 1);
    EXPECT_THAT(Form(), ElementsAre(first, second));
    EXPECT_THAT(batch_.runs, SizeIs(2));
  }
};

TEST_F(TwoSlabs, OfOneSegmentAreTwoRuns) {
  AddMemory();
  FormOfTwo(2);
  EXPECT_EQ(batch_.runs[0].segment, batch_.runs[1].segment);
}

TEST_F(TwoSlabs, AtTheSameOffsetOfTwoSegmentsAreTwoRuns) {
  AddMemory(platform::PageBytes());
  AddMemory(platform::PageBytes());
  // One slab of such rows fits into a segment, and not two.
  const auto length = static_cast<int64_t>(platform::PageBytes() * 3 / 4 / 16 / sizeof(float));
  ASSERT_EQ(SlabRows(spec_, std::vector<uint64_t>{length * sizeof(float)}), 16u);
  FormOfTwo(length);
  EXPECT_NE(batch_.runs[0].segment, batch_.runs[1].segment);
  EXPECT_EQ(batch_.runs[0].slab_offset, batch_.runs[1].slab_offset);
}

TEST_F(BatcherTest, RunsThatDoNotCoverTheirEntriesAreNoticed) {
  Request* first = Enqueue();
  Request* hole = Enqueue();
  Request* third = Enqueue();
  batcher_.Remove(hole);
  EXPECT_THAT(Form(), ElementsAre(first, third));
  FormedBatch joined = batch_;
  joined.runs.pop_back();
  EXPECT_DEATH(CheckCovers(joined, batcher_.slab_table()), "check failed") << "a run is missing";
  joined.runs[0].row_count = 2;
  EXPECT_DEATH(CheckCovers(joined, batcher_.slab_table()), "check failed") << "it covers the hole";
  joined = batch_;
  ++joined.runs[1].slab_offset;
  EXPECT_DEATH(CheckCovers(joined, batcher_.slab_table()), "check failed")
      << "it is of another slab";
}

// A copier that is preempted in the middle of a row while others go.
TEST_F(BatcherTest, ARowThatIsNotFilledYetIsPassedOverAndJoinsTheNextBatch) {
  Request* first = Enqueue();
  Request* slow = Reserve();
  Request* third = Enqueue();
  EXPECT_THAT(Form(), ElementsAre(first, third));
  ASSERT_THAT(batch_.runs, SizeIs(2));
  EXPECT_EQ(batch_.runs[0].first_row, 0u);
  EXPECT_EQ(batch_.runs[1].first_row, 2u);
  End({first, third});
  batcher_.Enqueue(slow);
  EXPECT_THAT(Form(), ElementsAre(slow));
  EXPECT_EQ(batch_.runs[0].first_row, 1u);
}

TEST_F(BatcherTest, ACancelledRowIsAHole) {
  Request* first = Enqueue();
  Request* cancelled = Enqueue();
  Request* third = Enqueue();
  batcher_.Remove(cancelled);
  EXPECT_THAT(Form(), ElementsAre(first, third));
  EXPECT_THAT(batch_.runs, SizeIs(2));
  EXPECT_EQ(batch_.entries[1].first_row, 1u) << "of the batch, not of the slab";
}

TEST_F(BatcherTest, NoMoreRowsThanTheModelTakes) {
  Request* first = Enqueue(3);
  Request* second = Enqueue(2);
  Request* third = Enqueue(2);
  EXPECT_THAT(Form(), ElementsAre(first));
  EXPECT_THAT(Form(), ElementsAre(second, third));
  EXPECT_EQ(batch_.row_count, 4u);
  EXPECT_THAT(Form(), IsEmpty());
}

TEST_F(BatcherTest, EarliestDeadlineFirst) {
  Request* late = Enqueue(2, 2, kNow + 30);
  Request* early = Enqueue(2, 2, kNow + 10);
  Request* middle = Enqueue(2, 2, kNow + 20);
  EXPECT_THAT(Form(), ElementsAre(early, middle));
  EXPECT_EQ(batch_.latest_deadline_ns, kNow + 20);
  EXPECT_THAT(Form(), ElementsAre(late));
}

TEST_F(BatcherTest, ABatchIsOfUseNoLongerThanItsOwnRequests) {
  Enqueue(4, 2, kNow + 30);
  Form();
  Request* next = Enqueue(1, 2, kNow + 10);
  EXPECT_THAT(Form(), ElementsAre(next));
  EXPECT_EQ(batch_.latest_deadline_ns, kNow + 10);
}

TEST_F(BatcherTest, ABatchIsOfUseUntilTheAnswersDeadline) {
  Request* request = Enqueue();
  const int64_t final_ns = request->deadline_ns + 50;
  request->final_deadline_ns = final_ns;
  EXPECT_THAT(Form(), ElementsAre(request));
  EXPECT_EQ(batch_.latest_deadline_ns, final_ns);
}

TEST_F(BatcherTest, TwoKeysNeverShareABatch) {
  Request* two = Enqueue(1, 2, kNow + 10);
  Request* three = Enqueue(1, 3, kNow + 20);
  Request* other_two = Enqueue(1, 2, kNow + 30);
  EXPECT_THAT(Form(), ElementsAre(two, other_two));
  EXPECT_EQ(batch_.inputs[0].row_bytes, 8u);
  EXPECT_THAT(Form(), ElementsAre(three));
  EXPECT_EQ(batch_.inputs[0].row_bytes, 12u);
  EXPECT_NE(two->place.slab, three->place.slab);
}

TEST_F(BatcherTest, ExpiredRequestsGoElsewhere) {
  Request* expired = Enqueue(1, 2, kNow + 10);
  Request* live = Enqueue(1, 2, kNow + 11);
  EXPECT_THAT(Form(kNow + 10), ElementsAre(live));
  EXPECT_THAT(expired_, ElementsAre(expired));
}

TEST_F(BatcherTest, NoBatchWhereAllHaveExpired) {
  Request* first = Enqueue(1, 2, kNow + 10);
  Request* second = Enqueue(1, 3, kNow + 5);
  EXPECT_THAT(Form(kNow + 10), IsEmpty());
  EXPECT_THAT(expired_, ElementsAre(second, first));
}

TEST_F(BatcherTest, AnExpiredHeadDoesNotBringItsLineForward) {
  Enqueue(1, 2, kNow + 5);
  Request* late = Enqueue(1, 2, kNow + 100);
  Request* early = Enqueue(1, 3, kNow + 20);
  EXPECT_THAT(Form(kNow + 10), ElementsAre(early));
  EXPECT_THAT(Form(kNow + 10), ElementsAre(late));
}

TEST_F(BatcherTest, TakeExpiredTakesThoseAlone) {
  Request* expired = Enqueue(1, 2, kNow + 10);
  Request* suspect = Reserve(1, 2, kNow + 10);
  suspect->suspect = true;
  batcher_.Enqueue(suspect);
  Request* live = Enqueue(1, 2, kNow + 11);
  batcher_.TakeExpired(kNow + 10, &expired_);
  EXPECT_THAT(expired_, ElementsAre(suspect, expired));
  EXPECT_THAT(Form(), ElementsAre(live));
}

TEST_F(BatcherTest, TakeExpiredTakesEveryQueuedRequestAtTheEndOfTime) {
  Enqueue(1, 2);
  Enqueue(1, 3);
  Request* reserved = Reserve(1, 4);
  batcher_.TakeExpired(INT64_MAX, &expired_);
  EXPECT_THAT(expired_, SizeIs(2));
  batcher_.Enqueue(reserved);
  EXPECT_THAT(Form(), ElementsAre(reserved));
}

TEST_F(BatcherTest, SuspectsRunAlone) {
  std::vector<Request*> requests;
  for (int i = 0; i < 3; ++i) requests.push_back(Enqueue());
  Form();
  requests[0]->suspect = requests[2]->suspect = true;
  for (Request* request : requests) batcher_.Enqueue(request);
  EXPECT_FALSE(batcher_.suspects().empty());
  EXPECT_THAT(Form(), ElementsAre(requests[1]));
  EXPECT_EQ(FormSuspect(), requests[0]);
  EXPECT_EQ(FormSuspect(), requests[2]);
  EXPECT_TRUE(batcher_.suspects().empty());
}

TEST_F(BatcherTest, ASuspectMayExpireOrBeRemoved) {
  Request* removed = Reserve();
  Request* expired = Reserve(1, 2, kNow + 10);
  for (Request* request : {removed, expired}) {
    request->suspect = true;
    batcher_.Enqueue(request);
  }
  batcher_.Remove(removed);
  batcher_.TakeExpiredOf(SchedulerDecision::kSuspects, 0, kNow + 10, &expired_);
  EXPECT_THAT(expired_, ElementsAre(expired));
  EXPECT_TRUE(batcher_.suspects().empty());
}

// Requests with the same content as one that runs.
class EqualRequests : public BatcherTest {
 protected:
  // A request whose every element is `value`.
  Request* EnqueueFilled(float value, uint32_t rows, Dims dims, bool suspect = false) {
    FakeCall& call = calls_.emplace_back();
    call.Describe(rows, std::move(dims), kNow, kNow);
    call.request.suspect = suspect;
    RowTargets targets;
    EXPECT_TRUE(batcher_.Reserve(&call.request, &targets).ok());
    call.Fill(targets, value);
    batcher_.Enqueue(&call.request);
    return &call.request;
  }

  std::vector<Request*> TakeEqual(const Request& request) {
    std::vector<Request*> equal;
    batcher_.TakeEqual(request, &equal);
    return equal;
  }
};

TEST_F(EqualRequests, AreTakenOutOfTheLineAndOfTheSuspects) {
  Request* running = EnqueueFilled(1, 1, {4});
  EXPECT_THAT(Form(), ElementsAre(running));
  Request* same = EnqueueFilled(1, 1, {4});
  Request* other = EnqueueFilled(2, 1, {4});
  Request* suspect = EnqueueFilled(1, 1, {4}, /*suspect=*/true);
  EXPECT_THAT(TakeEqual(*running), UnorderedElementsAre(same, suspect));
  EXPECT_TRUE(batcher_.suspects().empty());
  ASSERT_THAT(Form(), ElementsAre(other));
  End({running, other});
  EXPECT_TRUE(batcher_.CloseIdleSlabs()) << "the rows of those that were taken have ended";
  EXPECT_EQ(leased_slabs(), 0u);
}

TEST_F(EqualRequests, AreEqualToTheLastByte) {
  Request* running = EnqueueFilled(1, 1, {4});
  EXPECT_THAT(Form(), ElementsAre(running));
  Request* other = EnqueueFilled(1, 1, {4});
  other->rows_at[0][15] ^= 1;
  EXPECT_THAT(TakeEqual(*running), IsEmpty());
}

// Suspects of all shapes stand in one line.
TEST_F(EqualRequests, AreOfTheSameShape) {
  Request* running = EnqueueFilled(1, 1, {2, 3});
  EXPECT_THAT(Form(), ElementsAre(running));
  EnqueueFilled(1, 1, {3, 2}, /*suspect=*/true);
  EnqueueFilled(1, 1, {6}, /*suspect=*/true);
  EnqueueFilled(1, 2, {3}, /*suspect=*/true);
  EXPECT_THAT(TakeEqual(*running), IsEmpty());
}

TEST_F(BatcherTest, ABatchThatGoesAgainHasItsRowsWhereTheyWere) {
  Request* request = Enqueue(2);
  Form();
  const RowRun before = batch_.runs[0];
  batcher_.Enqueue(request);
  EXPECT_THAT(Form(), ElementsAre(request));
  EXPECT_EQ(std::memcmp(&before, &batch_.runs[0], sizeof(before)), 0);
}

TEST_F(BatcherTest, ABatchThatIsPutBackCostsItsTenantNothing) {
  const auto enqueue = [this](uint32_t tenant, int64_t deadline_ns) {
    Request* request = Reserve(1, 2, deadline_ns);
    request->tenant = tenant;
    batcher_.Enqueue(request);
    return request;
  };
  Request* first = enqueue(1, 2 * kNow);
  enqueue(2, 3 * kNow);
  batcher_.Form(0, 1, &batch_);
  ASSERT_EQ(batch_.entries[0].request, first);
  batcher_.PutBack(first);
  batcher_.Form(0, 1, &batch_);
  EXPECT_EQ(batch_.entries[0].request, first);
}

TEST_F(BatcherTest, AnOpenSlabBeginsAgainWhenNothingLives) {
  Request* first = Enqueue(2);
  EXPECT_EQ(Enqueue(1)->place.first_row, 2u);
  End(Form());
  Request* next = Enqueue(1);
  EXPECT_EQ(next->place.slab, first->place.slab);
  EXPECT_EQ(next->place.first_row, 0u);
}

TEST_F(BatcherTest, AFullSlabIsFreedWhenItsLastRowEnds) {
  const uint32_t capacity = SlabRows(spec_, std::vector<uint64_t>{8});
  Request* held = Enqueue(1);
  for (uint32_t row = 1; row < capacity; ++row) Enqueue(1);
  Request* beyond = Enqueue(1);
  EXPECT_NE(beyond->place.slab, held->place.slab);
  EXPECT_EQ(leased_slabs(), 2u);
  for (uint32_t batches = 0; batches < capacity / 4; ++batches) {
    std::vector<Request*> batch = Form();
    std::erase(batch, held);
    End(batch);
  }
  EXPECT_EQ(leased_slabs(), 2u);
  End({held});
  EXPECT_EQ(leased_slabs(), 1u);
}

TEST_F(BatcherTest, ARequestThatFillsASlabGetsItAloneAndFreesIt) {
  spec_.inputs[0].dims = {1 << 18};
  ModelSpec large;
  large.max_batch_size = 4;
  large.inputs = spec_.inputs;
  Batcher batcher(&large);
  absl::StatusOr<OwnedSegment> segment = OwnedSegment::Create(SegmentKind::kSlabs, 16 << 20, 0);
  ASSERT_TRUE(segment.ok());
  batcher.slabs()->AddSegment(*std::move(segment), 0);
  Request* request = NewRequest(4, 1 << 18);  // 1 MiB a row: four of them are a slab
  RowTargets targets;
  ASSERT_TRUE(batcher.Reserve(request, &targets).ok());
  batcher.Enqueue(request);
  batcher.Remove(request);
  EXPECT_EQ(batcher.slabs()->leased_count(), 0u);
}

TEST_F(SingleRequestBatcher, EachRequestIsABatchWithASlabOfItsOwn) {
  Request* first = Enqueue();
  Request* second = Enqueue();
  EXPECT_NE(first->place.slab, second->place.slab);
  EXPECT_THAT(Form(), ElementsAre(first));
  EXPECT_THAT(Form(), ElementsAre(second));
  EXPECT_EQ(leased_slabs(), 2u);
  End({first, second});
  EXPECT_EQ(leased_slabs(), 0u);
}

TEST_F(SingleRequestBatcher, FullMemoryIsRefusedAndUsedAgain) {
  std::vector<Request*> held;
  RowTargets targets;
  absl::Status status;
  while (status.ok()) {
    Request* request = NewRequest();
    status = batcher_.Reserve(request, &targets);
    if (status.ok()) held.push_back(request);
    ASSERT_LT(held.size(), 10'000u);
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  batcher_.EndRows(held.back()->place, 1);
  EXPECT_TRUE(batcher_.Reserve(NewRequest(), &targets).ok());
}

TEST_F(BatcherTest, AnotherKeyGetsTheMemoryOfIdleSlabs) {
  Batcher batcher(&spec_);
  const std::vector<uint64_t> row = {1 << 18};  // a slab of it is 4 MiB
  const uint64_t slab_bytes = SlabTable::Bytes(row, SlabRows(spec_, row));
  absl::StatusOr<OwnedSegment> segment =
      OwnedSegment::Create(SegmentKind::kSlabs, slab_bytes + platform::PageBytes(), 0);
  ASSERT_TRUE(segment.ok());
  batcher.slabs()->AddSegment(*std::move(segment), 0);
  RowTargets targets;
  Request* first = NewRequest(1, 1 << 16);
  Request* second = NewRequest(1, (1 << 16) - 1);
  ASSERT_TRUE(batcher.Reserve(first, &targets).ok());
  EXPECT_FALSE(batcher.Reserve(second, &targets).ok());
  batcher.Enqueue(first);
  batcher.Remove(first);
  EXPECT_TRUE(batcher.Reserve(second, &targets).ok());
}

TEST_F(BatcherTest, ASlabWithRowsStaysOpenThoughAnotherKeyFindsNoRoom) {
  const Request* live = Enqueue();
  RowTargets targets;
  EXPECT_FALSE(batcher_.Reserve(NewRequest(1, 1 << 20), &targets).ok());
  EXPECT_EQ(Enqueue()->place.slab, live->place.slab);
}

TEST_F(BatcherTest, OnlySoManyKeysKeepAnOpenSlab) {
  for (uint32_t key = 0; key < 2 * kMaxOpenSlabs; ++key) batcher_.Remove(Enqueue(1, 2 + key % 96));
  EXPECT_LE(leased_slabs(), kMaxOpenSlabs);
}

TEST_F(BatcherTest, TheLeastRecentlyUsedKeyLosesItsSlab) {
  const auto use = [this](int64_t length) { batcher_.Remove(Enqueue(1, length)); };
  for (uint32_t key = 0; key < kMaxOpenSlabs; ++key) use(2 + key);
  use(2);
  Request* kept = Enqueue(1, 4);
  const uint32_t slab = kept->place.slab;
  use(2 + kMaxOpenSlabs);  // closes key 3's
  EXPECT_EQ(leased_slabs(), kMaxOpenSlabs);
  EXPECT_EQ(Enqueue(1, 4)->place.slab, slab);
}

TEST_F(BatcherTest, ARequestWhoseKeyWasForgottenWhileItWasFilledIsServed) {
  Request* slow = Reserve(1, 2);
  for (uint32_t key = 1; key <= kMaxOpenSlabs; ++key) batcher_.Remove(Enqueue(1, 2 + key));
  batcher_.Enqueue(slow);
  EXPECT_THAT(Form(), ElementsAre(slow));
  End({slow});
  EXPECT_LE(leased_slabs(), kMaxOpenSlabs);
}

TEST_F(BatcherTest, MoreKeysThanSlabsThatAllWaitAreAllServed) {
  std::vector<Request*> requests;
  for (uint32_t key = 0; key < kMaxOpenSlabs + 16; ++key) {
    requests.push_back(Enqueue(1, 2 + key, kNow + 1 + key));
  }
  for (Request* request : requests) {
    EXPECT_THAT(Form(), ElementsAre(request));
    End({request});
  }
  Enqueue(1, 1000);
  EXPECT_LE(leased_slabs(), kMaxOpenSlabs);
}

// A model of tokens whose batches have at most four rows, and 32 tokens if requests share them. Its
// mask is an input like the ids, in the requests and in their keys.
class TokenBatcher : public BatcherFixture {
 protected:
  TokenBatcher() : BatcherFixture(4, 0, 32) {
    spec_.inputs = {{"attention_mask", DataType::kInt64, {-1}},
                    {"input_ids", DataType::kInt64, {-1}}};
    AddMemory();
  }

  Request* EnqueueTokens(uint32_t rows, int64_t length) {
    Request* request = &calls_.emplace_back().request;
    request->rows = rows;
    request->arrival_ns = kNow;
    request->deadline_ns = 2 * kNow;
    for (int i = 0; i < 2; ++i) {
      RequestInput& input = request->inputs.emplace_back();
      input.datatype = DataType::kInt64;
      input.dims = {length - 1};
      input.padded_dims = {length};
      input.row_bytes = static_cast<uint64_t>(length) * sizeof(int64_t);
      request->key.push_back(length);
    }
    RowTargets targets;
    EXPECT_TRUE(batcher_.Reserve(request, &targets).ok());
    batcher_.Enqueue(request);
    return request;
  }
};

TEST_F(TokenBatcher, RequestsBeyondTheBudgetTogetherGoInTwoBatches) {
  Request* first = EnqueueTokens(1, 16);
  Request* second = EnqueueTokens(1, 16);
  Request* third = EnqueueTokens(1, 16);
  EXPECT_THAT(Form(), ElementsAre(first, second)) << "32 tokens, to the last one";
  EXPECT_THAT(Form(), ElementsAre(third));
  first = EnqueueTokens(2, 11);
  second = EnqueueTokens(1, 11);
  EXPECT_THAT(Form(), ElementsAre(first)) << "33 tokens are too many";
  EXPECT_THAT(Form(), ElementsAre(second));
}

TEST_F(TokenBatcher, ShortRowsFillABatch) {
  for (int i = 0; i < 5; ++i) EnqueueTokens(1, 8);
  EXPECT_THAT(Form(), SizeIs(4));
  EXPECT_THAT(Form(), SizeIs(1));
}

TEST_F(TokenBatcher, ARequestBeyondTheBudgetRunsAlone) {
  Request* shorter = EnqueueTokens(1, 16);
  Request* large = EnqueueTokens(3, 16);
  Request* last = EnqueueTokens(1, 16);
  EXPECT_THAT(Form(), ElementsAre(shorter)) << "four rows would be in the batch's bounds";
  EXPECT_THAT(Form(), ElementsAre(large));
  EXPECT_THAT(Form(), ElementsAre(last));
  EXPECT_EQ(batcher_.MostRowsWith(*large), 3u);
  EXPECT_EQ(batcher_.MostRowsWith(*last), 2u);
  Request* longest = EnqueueTokens(1, 64);
  EXPECT_THAT(Form(), ElementsAre(longest));
}

// Batches wait for company; requests arrive at kNow, however late they are enqueued.
class PatientBatcher : public BatcherFixture {
 protected:
  static constexpr int64_t kMaxDelayNs = 50;
  static constexpr int64_t kDue = kNow + kMaxDelayNs;

  PatientBatcher() : BatcherFixture(4, kMaxDelayNs) { AddMemory(); }

  // A request that arrived so much later than the others.
  Request* EnqueueLate(int64_t late_ns, uint32_t rows, int64_t length, int64_t deadline_ns) {
    Request* request = Reserve(rows, length, deadline_ns);
    request->arrival_ns += late_ns;
    batcher_.Enqueue(request);
    return request;
  }
};

TEST_F(PatientBatcher, IsDueOnceTheEarliestHasWaitedOrTheBatchIsFull) {
  EXPECT_EQ(NextDueNs(), std::nullopt);
  Request* first = Enqueue(3);
  EXPECT_EQ(NextDueNs(), kDue);
  EXPECT_THAT(Form(kDue - 1), IsEmpty());
  Request* second = Enqueue(1);
  EXPECT_EQ(NextDueNs(), INT64_MIN);
  EXPECT_THAT(Form(), ElementsAre(first, second));
  EXPECT_EQ(NextDueNs(), std::nullopt);
  Request* third = Enqueue(1);
  EXPECT_THAT(Form(kDue), ElementsAre(third));
}

TEST_F(PatientBatcher, AFullBatchDoesNotWaitBesideAKeyThatIsNotDue) {
  Request* waits = Enqueue(1, 2, kNow + 100);
  Request* full = Enqueue(4, 3, kNow + 200);
  EXPECT_EQ(NextDueNs(), INT64_MIN);
  EXPECT_THAT(Form(), ElementsAre(full));
  EXPECT_EQ(NextDueNs(), kDue);
  EXPECT_THAT(Form(), IsEmpty());
  EXPECT_THAT(Form(kDue), ElementsAre(waits));
}

TEST_F(PatientBatcher, AnOverdueBatchDoesNotWaitBesideAKeyThatIsNotDue) {
  Request* late = EnqueueLate(30, 1, 2, kNow + 100);
  Request* overdue = Enqueue(1, 3, kNow + 200);
  EXPECT_EQ(NextDueNs(), kDue) << "the first of both";
  EXPECT_THAT(Form(kDue), ElementsAre(overdue));
  EXPECT_EQ(NextDueNs(), kDue + 30);
  EXPECT_THAT(Form(kDue + 30), ElementsAre(late));
}

TEST_F(PatientBatcher, OfKeysThatAreDueTheEarliestDeadlineComesFirst) {
  Request* later = Enqueue(4, 2, kNow + 200);
  Request* sooner = Enqueue(1, 3, kNow + 100);
  EXPECT_THAT(Form(kDue), ElementsAre(sooner));
  EXPECT_THAT(Form(kDue), ElementsAre(later));
}

// A request that is dropped may have been the only reason why a key was due.
TEST_F(PatientBatcher, AnExpiredHeadMakesNobodyElseDue) {
  Request* expired = Enqueue(1, 2, kNow + 10);
  Request* young = EnqueueLate(40, 1, 2, kNow + 300);
  EXPECT_THAT(Form(kDue), IsEmpty());
  EXPECT_THAT(expired_, ElementsAre(expired));
  EXPECT_EQ(NextDueNs(), kDue + 40);
  EXPECT_THAT(Form(kDue + 40), ElementsAre(young));
}

TEST_F(BatcherTest, ABatchHasAtMostSoManyRuns) {
  spec_.max_batch_size = kMaxBatchRows;
  Batcher batcher(&spec_);
  absl::StatusOr<OwnedSegment> segment = OwnedSegment::Create(SegmentKind::kSlabs, 1 << 20, 0);
  ASSERT_TRUE(segment.ok());
  batcher.slabs()->AddSegment(*std::move(segment), 0);
  for (uint32_t i = 0; i < 2 * kMaxRuns + 10; ++i) {
    Request* request = NewRequest();
    RowTargets targets;
    ASSERT_TRUE(batcher.Reserve(request, &targets).ok());
    if (i % 2 == 0) batcher.Enqueue(request);  // every other row is a hole
  }
  ASSERT_TRUE(FormNext(&batcher, kNow));
  EXPECT_THAT(batch_.runs, SizeIs(kMaxRuns));
  ASSERT_TRUE(FormNext(&batcher, kNow));
  EXPECT_THAT(batch_.runs, SizeIs(5));
}

TEST_F(BatcherTest, RowsTooLargeToShareASlabGetAnExtentARequest) {
  constexpr int64_t kLength = (kMaxSharedSlabBytes / 4 + 4096) / 4;  // four rows are too many
  AddMemory(kMaxSharedSlabBytes);
  Request* first = Enqueue(1, kLength);
  Request* second = Enqueue(2, kLength);
  EXPECT_EQ(leased_slabs(), 2u);
  EXPECT_THAT(Form(), ElementsAre(first, second));
  ASSERT_THAT(batch_.runs, SizeIs(2));
  EXPECT_EQ(batch_.runs[1].row_capacity, 2u);
  EXPECT_EQ(batch_.runs[1].first_row, 0u);
  End({first, second});
  EXPECT_EQ(leased_slabs(), 0u);
}

TEST_F(BatcherTest, WhatFoundNoRoomIsSaidOnce) {
  EXPECT_EQ(batcher_.TakeMissedBytes(), 0u);
  RowTargets targets;
  Request* request = NewRequest(1, 1 << 20);  // 4 MiB
  EXPECT_FALSE(batcher_.Reserve(request, &targets).ok());
  EXPECT_EQ(request->state, RequestState::kNew);
  EXPECT_GE(batcher_.TakeMissedBytes(), 4ULL << 20);
  EXPECT_EQ(batcher_.TakeMissedBytes(), 0u);
}

TEST_F(BatcherTest, OfSeveralThatFoundNoRoomTheLargestIsSaid) {
  RowTargets targets;
  for (const int64_t elements : {1 << 21, 1 << 20}) {
    EXPECT_FALSE(batcher_.Reserve(NewRequest(1, elements), &targets).ok());
  }
  EXPECT_GE(batcher_.TakeMissedBytes(), 8ULL << 20);
}

class StringBatcher : public BatcherFixture {
 protected:
  StringBatcher() {
    spec_.inputs.assign(kStrings, {"T", DataType::kBytes, {1}});
    spec_.max_batch_size = kMaxBatchRows;
    AddMemory(4 << 20);
  }

  Request* EnqueueStrings(uint64_t bytes) {
    Request* request = &calls_.emplace_back().request;
    request->arrival_ns = kNow;
    request->deadline_ns = 2 * kNow;
    for (uint32_t i = 0; i < kStrings; ++i) {
      RequestInput& input = request->inputs.emplace_back();
      input.datatype = DataType::kBytes;
      input.dims = input.padded_dims = {1};
      input.tensor_bytes = bytes + i;
    }
    request->key.assign(kStrings, 1);
    RowTargets targets;
    EXPECT_TRUE(batcher_.Reserve(request, &targets).ok());
    EXPECT_EQ(targets.inputs[1] - targets.inputs[0],
              static_cast<ptrdiff_t>(*AlignUp(bytes, kTensorAlignment)));
    batcher_.Enqueue(request);
    return request;
  }

  static constexpr uint32_t kStrings = 8;
};

TEST_F(StringBatcher, EachRequestIsARunOfItsOwnBytes) {
  Request* first = EnqueueStrings(10);
  Request* second = EnqueueStrings(1000);
  EXPECT_THAT(Form(), ElementsAre(first, second));
  EXPECT_THAT(batch_.runs, SizeIs(2));
  ASSERT_THAT(batch_.byte_counts, SizeIs(2 * kStrings));
  EXPECT_EQ(batch_.byte_counts[1], 11u);
  EXPECT_EQ(batch_.byte_counts[kStrings], 1000u);
  End({first, second});
  EXPECT_EQ(leased_slabs(), 0u);
}

TEST_F(StringBatcher, ABatchHasNoMoreByteCountsThanItsRecord) {
  constexpr size_t kFitting = kMaxByteCounts / kStrings;
  for (size_t i = 0; i < kFitting + 1; ++i) EnqueueStrings(1);
  EXPECT_THAT(Form(), SizeIs(kFitting));
  EXPECT_THAT(batch_.byte_counts, SizeIs(kMaxByteCounts));
  EXPECT_THAT(Form(), SizeIs(1));
}

}  // namespace
}  // namespace mpsd
