#include "server/pool/pool_queue.h"

#include <gmock/gmock.h>

#include <deque>

#include "server/request/retry_info.h"
#include "tests/fakes/fake_call.h"
#include "tests/fakes/fake_clock.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// Waits with the request; nothing is ever filled here.
class NoFiller final : public RowFiller {
 public:
  void Fill(const ModelSpec&, const Request&, const RowTargets&) const override {}
};

// A queue of at most four requests and kMaxBytes; a row has 8 bytes.
class PoolQueueTest : public testing::Test {
 protected:
  static constexpr uint64_t kRowBytes = 8;
  static constexpr uint64_t kMaxBytes = 8 << 20;
  static constexpr int64_t kNever = INT64_MAX;

  PoolQueueTest() {
    model_.spec.max_batch_size = 4;
    model_.spec.inputs = {{"IN", DataType::kFp32, {2}}};
  }

  ~PoolQueueTest() override {
    queue_.CheckInvariants();
    for (FakeCall& call : calls_) {
      if (call.request.reply.owed()) call.request.reply.Fail(absl::OkStatus());
    }
  }

  void AddMemory(uint32_t number = 0) {
    queue_.slabs()->AddSegment(OwnedSegment::Create(SegmentKind::kSlabs, 1 << 16, 0).value(),
                               number);
  }

  Request* NewRequest(uint32_t rows = 1, int64_t deadline_ns = 100, bool may_wait = false) {
    FakeCall& call = calls_.emplace_back();
    call.Describe(rows, {2}, 0, deadline_ns);
    if (may_wait) call.request.filler = &filler_;
    return &call.request;
  }

  absl::Status Admit(Request* request, uint64_t bytes = kRowBytes) {
    targets_.inputs.clear();
    targets_.later = false;
    absl::Status status = queue_.Admit(request, bytes, &targets_, &tick_ns_);
    queue_.CheckInvariants();
    return status;
  }

  Request* Queue(uint32_t rows = 1, int64_t deadline_ns = 100) {
    Request* request = NewRequest(rows, deadline_ns);
    EXPECT_TRUE(Admit(request).ok());
    queue_.Commit(request);
    queue_.CheckInvariants();
    return request;
  }

  ServedModel model_;
  FakeClock clock_;
  NoFiller filler_;
  std::deque<FakeCall> calls_;
  RowTargets targets_;
  int64_t tick_ns_ = kNever;
  std::vector<Request*> taken_;
  PoolQueue queue_{&model_, &model_.metrics, {{4}, kMaxBytes}, &clock_};
};

TEST_F(PoolQueueTest, ARequestIsCountedUntilItIsTakenOut) {
  AddMemory();
  Request* request = NewRequest(2);
  ASSERT_TRUE(Admit(request).ok());
  EXPECT_THAT(targets_.inputs, SizeIs(1));
  EXPECT_EQ(queue_.ledger()->requests(), 1u) << "while its rows are filled too";
  EXPECT_EQ(queue_.CheckInvariants().rows, 2u);
  EXPECT_EQ(model_.metrics.queued_bytes, kRowBytes);
  queue_.Commit(request);
  EXPECT_EQ(queue_.ledger()->requests(), 1u);
  FormedBatch batch;
  queue_.Form(0, 4, &batch);
  queue_.CheckInvariants();
  EXPECT_EQ(queue_.ledger()->requests(), 0u);
  EXPECT_EQ(model_.metrics.queued_requests, 0);
  EXPECT_EQ(model_.metrics.queued_bytes, 0);
  queue_.PutBack(&batch);
  queue_.CheckInvariants();
  EXPECT_EQ(queue_.ledger()->requests(), 1u);
  EXPECT_EQ(model_.metrics.queued_bytes, kRowBytes);
  queue_.Remove(request);
  EXPECT_EQ(queue_.ledger()->requests(), 0u);
}

TEST_F(PoolQueueTest, NoMoreRequestsThanItsLimit) {
  AddMemory();
  for (int i = 0; i < 4; ++i) Queue();
  const absl::Status status = Admit(NewRequest());
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "Exceeds maximum queue size");
  EXPECT_TRUE(RetryAfterNs(status).has_value()) << "it is told when to come again";
}

TEST_F(PoolQueueTest, NoMoreBytesThanItsLimit) {
  AddMemory();
  ASSERT_TRUE(Admit(NewRequest(), kMaxBytes - kRowBytes).ok());
  EXPECT_FALSE(Admit(NewRequest(), kRowBytes + 1).ok());
  EXPECT_TRUE(Admit(NewRequest(), kRowBytes).ok()) << "to the last byte";
}

TEST_F(PoolQueueTest, AnArrivingRequestCountsFromItsCommitOn) {
  AddMemory();
  Request* const request = NewRequest(2);
  request->is_arriving = true;
  ASSERT_TRUE(Admit(request).ok());
  EXPECT_EQ(queue_.ledger()->requests(), 0U);
  EXPECT_EQ(queue_.CheckInvariants().rows, 2U) << "it has its rows";
  EXPECT_EQ(model_.metrics.queued_requests, 0);
  queue_.Commit(request);
  EXPECT_EQ(queue_.ledger()->requests(), 1U);
  EXPECT_EQ(model_.metrics.queued_bytes, kRowBytes);
  queue_.Remove(request);
}

TEST_F(PoolQueueTest, ArrivingRequestsLeaveRoomForOthers) {
  AddMemory();
  const auto arrive = [this](uint64_t bytes) {
    Request* const request = NewRequest();
    request->is_arriving = true;
    return Admit(request, bytes);
  };
  ASSERT_TRUE(arrive(kMaxBytes / 2 - kRowBytes).ok());
  EXPECT_FALSE(arrive(kRowBytes + 1).ok());
  EXPECT_TRUE(arrive(kRowBytes).ok()) << "to the last byte of their part";
  EXPECT_TRUE(Admit(NewRequest(), kMaxBytes).ok()) << "they take nothing from others";
}

class TenantQueueTest : public PoolQueueTest {
 protected:
  absl::Status AdmitOf(uint32_t tenant, uint64_t bytes = kRowBytes, uint32_t rows = 1) {
    Request* request = NewRequest(rows);
    request->tenant = tenant;
    return Admit(request, bytes);
  }

  uint64_t RowsBefore(uint32_t tenant) {
    Request* request = NewRequest(2);
    request->tenant = tenant;
    return queue_.ledger()->RowsBefore(*request);
  }
};

TEST_F(TenantQueueTest, OneTenantHasAtMostWhatIsLeftForAllOthers) {
  AddMemory();
  EXPECT_TRUE(AdmitOf(1).ok());
  EXPECT_TRUE(AdmitOf(1).ok());
  EXPECT_FALSE(AdmitOf(1).ok()) << "half of four";
  EXPECT_TRUE(AdmitOf(2).ok());
  EXPECT_FALSE(AdmitOf(2).ok()) << "one is left, and it has one";
  EXPECT_TRUE(AdmitOf(3).ok());
  EXPECT_FALSE(AdmitOf(4).ok()) << "the queue is full";
}

TEST_F(TenantQueueTest, AndAtMostSoManyBytes) {
  AddMemory();
  ASSERT_TRUE(AdmitOf(1, kMaxBytes / 2).ok());
  EXPECT_FALSE(AdmitOf(1).ok());
  EXPECT_TRUE(AdmitOf(2, kMaxBytes / 2).ok()) << "it had nothing";
}

TEST_F(TenantQueueTest, BeforeARequestAreItsTenantsRowsAndAsManyOfEachOther) {
  AddMemory();
  ASSERT_TRUE(AdmitOf(1, kRowBytes, 4).ok());
  ASSERT_TRUE(AdmitOf(1, kRowBytes, 4).ok());
  EXPECT_EQ(RowsBefore(1), 8u);
  EXPECT_EQ(RowsBefore(2), 2u) << "of the other as many as its own two";
  ASSERT_TRUE(AdmitOf(2, kRowBytes, 1).ok());
  EXPECT_EQ(RowsBefore(2), 1u + 3u);
  EXPECT_EQ(RowsBefore(1), 8u + 1u);
  EXPECT_EQ(RowsBefore(3), 2u + 1u);
}

TEST_F(PoolQueueTest, ARequestWithoutRoomWaitsForMemory) {
  Request* request = NewRequest(1, 100, /*may_wait=*/true);
  AddMemory();
  Request* large = NewRequest(1, 50, /*may_wait=*/true);
  large->inputs[0].row_bytes = 1 << 20;
  large->key = {1 << 18};
  ASSERT_TRUE(Admit(large).ok());
  EXPECT_TRUE(targets_.later);
  EXPECT_EQ(large->state, RequestState::kWaiting);
  EXPECT_EQ(tick_ns_, clock_.NowNs()) << "the supervisor is woken";
  EXPECT_TRUE(queue_.growth()->expected());
  EXPECT_EQ(queue_.ledger()->requests(), 1u);
  ASSERT_TRUE(Admit(request).ok());
  EXPECT_FALSE(targets_.later) << "for the small one there is room";
  queue_.growth()->Granted();
  queue_.slabs()->AddSegment(OwnedSegment::Create(SegmentKind::kSlabs, 8 << 20, 0).value(), 1);
  std::vector<std::pair<Request*, RowTargets>> fills;
  queue_.PlaceWaiting(&fills, &tick_ns_);
  queue_.CheckInvariants();
  ASSERT_THAT(fills, SizeIs(1));
  EXPECT_EQ(fills[0].first, large);
  EXPECT_EQ(large->state, RequestState::kReserved);
}

TEST_F(PoolQueueTest, ARequestThatCannotWaitIsRefused) {
  Request* request = NewRequest();
  EXPECT_FALSE(Admit(request).ok());
  EXPECT_EQ(request->state, RequestState::kNew);
  EXPECT_EQ(queue_.ledger()->requests(), 0u);
}

TEST_F(PoolQueueTest, ARequestIsRefusedWhereNoMemoryWillCome) {
  queue_.growth()->Refused(clock_.NowNs());
  EXPECT_FALSE(Admit(NewRequest(1, 100, /*may_wait=*/true)).ok());
}

TEST_F(PoolQueueTest, TakesExpiredRequestsWhereverTheyWait) {
  Request* waiting = NewRequest(1, 10, /*may_wait=*/true);
  ASSERT_TRUE(Admit(waiting).ok());
  AddMemory();
  Request* queued = Queue(1, 10);
  Request* live = Queue(1, 11);
  queue_.TakeExpired(10, &taken_);
  queue_.CheckInvariants();
  EXPECT_THAT(taken_, ElementsAre(waiting, queued));
  EXPECT_EQ(queue_.ledger()->requests(), 1u);
  queue_.Remove(live);
}

TEST_F(PoolQueueTest, TakesThoseThatWaitAlone) {
  Request* waiting = NewRequest(1, 10, /*may_wait=*/true);
  ASSERT_TRUE(Admit(waiting).ok());
  AddMemory();
  Queue(1, 10);
  queue_.TakeWaiting(9, &taken_);
  EXPECT_THAT(taken_, IsEmpty());
  queue_.TakeWaiting(kNever, &taken_);
  queue_.CheckInvariants();
  EXPECT_THAT(taken_, ElementsAre(waiting));
  EXPECT_EQ(queue_.ledger()->requests(), 1u);
}

}  // namespace
}  // namespace mpsd
