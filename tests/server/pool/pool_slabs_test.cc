// Memory that a pool is given and gives back while it serves.
#include <gmock/gmock.h>

#include <cstring>

#include "server/pool/batch/slab_sizing.h"
#include "server/request/retry_info.h"
#include "tests/server/pool/pool_fixture.h"

namespace mpsd {
namespace {

// Fills each row with the value that the test gave for its request.
class ValueFiller final : public RowFiller {
 public:
  void Fill(const ModelSpec&, const Request& request, const RowTargets& targets) const override {
    const RequestInput& input = request.inputs[0];
    for (uint64_t at = 0; at < input.Bytes(request.rows); at += sizeof(value)) {
      std::memcpy(targets.inputs[0] + at, &value, sizeof(value));
    }
    ++filled;
  }

  float value = 0;
  mutable int filled = 0;
};

// A model of one row a request, 64 KiB, and a first segment that holds six of them.
class PoolSlabs : public PoolFixture {
 protected:
  static constexpr uint64_t kRowBytes = 64 << 10;
  static constexpr int kFirstRows = 6;

  PoolSlabs() {
    model_.spec.max_batch_size = 0;
    model_.spec.inputs[0].dims = model_.spec.outputs[0].dims = {kRowBytes / sizeof(float)};
    filler_.value = 9;
  }

  void MakeSmallPool(PoolOptions options = {}) {
    MakePool(options, kFirstRows * kRowBytes + platform::PageBytes());
  }

  // Ends a hundred requests by `end_one` within a second, and fills a queue of four: when a client
  // that is refused then is told to come again.
  template <typename EndOne>
  std::optional<int64_t> RetryDelayAfter(const EndOne& end_one) {
    PoolOptions options;
    options.queue_requests = {4};
    MakeSmallPool(options);
    FakeWorker* worker = AddWorker();
    pool_->Tick();
    for (int i = 0; i < 100; ++i) {
      end_one(worker, i);
      Drain();
    }
    TickAfter(kNsPerSecond);
    Submit(1);  // runs
    for (int i = 0; i < 4; ++i) Submit(1);
    const std::optional<int64_t> delay_ns = RetryAfterNs(Submit(2)->status());
    Serve(worker);
    return delay_ns;
  }

  void FillFirstSegment() {
    for (int i = 0; i < kFirstRows; ++i) ASSERT_EQ(Submit(1)->endings(), 0);
  }

  void MakeFullPool() {
    MakeSmallPool();
    FillFirstSegment();
  }

  // A request that may wait for memory; it is committed unless it does.
  FakeCall* SubmitPatient(float value, int64_t timeout_ns = kTimeoutNs) {
    FakeCall* call = NewCall(1, timeout_ns);
    call->request.filler = &filler_;
    RowTargets targets;
    const absl::Status status = pool_->Reserve(&call->request, &targets);
    if (!status.ok()) {
      call->request.reply.Fail(status);
    } else if (!targets.later) {
      call->Fill(targets, value);
      pool_->Commit(&call->request);
    }
    return call;
  }

  void AddSegment(uint64_t bytes, uint32_t number) {
    OwnedSegment segment = OwnedSegment::Create(SegmentKind::kSlabs, bytes, 0).value();
    const SlabSegment seen{number, segment.peer_fd(), segment.bytes()};
    for (const Worker& worker : workers_) worker.side->AddSlabs(seen);
    pool_->memory()->Add(std::move(segment), number);
  }

  std::vector<float> Row(float value) const {
    return std::vector<float>(kRowBytes / sizeof(float), value);
  }

  ValueFiller filler_;
};

TEST_F(PoolSlabs, WhoHadToWaitForMemoryIsKnownByItsContentToo) {
  MakeSmallPool();
  Submit(9);
  EXPECT_EQ(CrashTwo(), Conviction::kContent);
  FillFirstSegment();
  FakeCall* poisonous = SubmitPatient(9);
  EXPECT_EQ(poisonous->endings(), 0) << "nobody knows what it holds";
  AddSegment(4 << 20, 1);
  EXPECT_EQ(poisonous->status(), absl::InternalError("request crashed its worker"));
  Serve(AddWorker());
}

TEST_F(PoolSlabs, WithoutRoomARequestWaitsForMemoryAndTheKeeperIsAsked) {
  MakeSmallPool();
  EXPECT_EQ(pool_->memory()->TakeGrowthRequest(), std::nullopt);
  keeper_.on_wake = [this](int64_t) { pool_->workers()->Progress(0); };  // takes the pool's mutex
  FillFirstSegment();
  FakeCall* call = SubmitPatient(9);
  EXPECT_EQ(call->endings(), 0);
  EXPECT_EQ(call->request.state, RequestState::kWaiting);
  EXPECT_EQ(keeper_.wake_by_ns(), clock_.NowNs());
  const std::optional<uint64_t> growth = pool_->memory()->TakeGrowthRequest();
  ASSERT_TRUE(growth.has_value());
  EXPECT_GE(*growth, kMinSlabSegmentBytes);
  EXPECT_EQ(pool_->memory()->TakeGrowthRequest(), std::nullopt) << "one at a time";
  EXPECT_EQ(filler_.filled, 0);
  AddSegment(*growth, 1);
  EXPECT_EQ(filler_.filled, 1);
  EXPECT_EQ(call->request.state, RequestState::kQueued);
  EXPECT_EQ(model_.metrics.slab_segment_bytes,
            static_cast<int64_t>(*growth + kFirstRows * kRowBytes + platform::PageBytes()));
  Serve(AddWorker());
  EXPECT_EQ(call->Answer(), Row(9));
  EXPECT_EQ(calls_[0].Answer(), Row(1));
}

TEST_F(PoolSlabs, WhoWaitsAlsoTakesRowsThatBecomeFree) {
  MakeFullPool();
  FakeCall* call = SubmitPatient(9);
  FakeWorker* worker = AddWorker();
  Serve(worker);
  EXPECT_EQ(call->Answer(), Row(9));
  pool_->memory()->Refuse();
}

TEST_F(PoolSlabs, WhoWaitsTakesTheRowsOfThoseThatExpired) {
  MakeFullPool();
  FakeCall* call = SubmitPatient(9, 2 * kTimeoutNs);
  TickAfter(kTimeoutNs);
  EXPECT_EQ(call->request.state, RequestState::kQueued);
  Serve(AddWorker());
  EXPECT_EQ(call->Answer(), Row(9));
}

TEST_F(PoolSlabs, WhoStillFindsNoRoomInANewSegmentHasAnotherAskedFor) {
  MakeFullPool();
  FakeCall* call = SubmitPatient(9);
  ASSERT_TRUE(pool_->memory()->TakeGrowthRequest().has_value());
  AddSegment(platform::PageBytes(), 1);
  EXPECT_EQ(call->request.state, RequestState::kWaiting);
  const std::optional<uint64_t> growth = pool_->memory()->TakeGrowthRequest();
  ASSERT_TRUE(growth.has_value());
  AddSegment(*growth, 2);
  Serve(AddWorker());
  EXPECT_EQ(call->Answer(), Row(9));
}

TEST_F(PoolSlabs, TheSlabOfWhoCrashedItsWorkerIsLeasedNoMore) {
  MakeSmallPool();
  Submit(9);
  EXPECT_EQ(model_.metrics.input_slabs_leased, 1);
  EXPECT_EQ(CrashTwo(), Conviction::kContent);
  EXPECT_EQ(model_.metrics.input_slabs_leased, 0);
}

TEST_F(PoolSlabs, WhoeverWaitsIsRefusedWhenThereIsNoMemory) {
  MakeFullPool();
  FakeCall* call = SubmitPatient(9);
  ASSERT_TRUE(pool_->memory()->TakeGrowthRequest().has_value());
  pool_->memory()->Refuse();
  EXPECT_EQ(call->status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(call->status().message(), "Exceeds maximum queue size");
  EXPECT_TRUE(RetryAfterNs(call->status()).has_value());
  EXPECT_TRUE(absl::IsResourceExhausted(SubmitPatient(9)->status())) << "not asked for at once";
  EXPECT_EQ(pool_->memory()->TakeGrowthRequest(), std::nullopt);
  clock_.Advance(kNsPerSecond / 2);
  FakeCall* later = SubmitPatient(9);
  EXPECT_EQ(later->endings(), 0);
  EXPECT_TRUE(pool_->memory()->TakeGrowthRequest().has_value());
  Serve(AddWorker());
  EXPECT_EQ(later->Answer(), Row(9));
}

TEST_F(PoolSlabs, WhatTheLimitsForbidDoesNotWait) {
  PoolOptions options;
  options.queue_requests = {kFirstRows};
  MakeSmallPool(options);
  FillFirstSegment();
  EXPECT_TRUE(absl::IsResourceExhausted(SubmitPatient(9)->status()));
  EXPECT_EQ(pool_->memory()->TakeGrowthRequest(), std::nullopt);
  Serve(AddWorker());
}

TEST_F(PoolSlabs, WaitingRequestsCountAsQueued) {
  PoolOptions options;
  options.queue_requests = {kFirstRows + 1};
  MakeSmallPool(options);
  FillFirstSegment();
  SubmitPatient(9);
  EXPECT_EQ(model_.metrics.queued_requests, kFirstRows + 1);
  EXPECT_TRUE(absl::IsResourceExhausted(SubmitPatient(9)->status()));
  Serve(AddWorker());
}

TEST_F(PoolSlabs, ARequestLargerThanEverySegmentGetsOneOfItsOwn) {
  const uint64_t bytes = 10 * kSlabBytesTarget;
  FakeCall* call = NewCall();
  model_.spec.inputs[0].dims = {-1};
  model_.spec.outputs[0].dims = {static_cast<int64_t>(bytes / sizeof(float))};
  MakeSmallPool();
  RequestInput& input = call->request.inputs[0];
  input.dims = input.padded_dims = {static_cast<int64_t>(bytes / sizeof(float))};
  input.row_bytes = bytes;
  call->request.key.assign(input.dims.begin(), input.dims.end());
  call->request.filler = &filler_;
  RowTargets targets;
  ASSERT_TRUE(pool_->Reserve(&call->request, &targets).ok());
  ASSERT_TRUE(targets.later);
  const std::optional<uint64_t> growth = pool_->memory()->TakeGrowthRequest();
  ASSERT_TRUE(growth.has_value());
  EXPECT_GE(*growth, bytes + sizeof(SegmentHeader));
  AddSegment(*growth, 1);
  EXPECT_EQ(call->request.state, RequestState::kQueued);
  EXPECT_EQ(pool_->memory()->TakeGrowthRequest(), std::nullopt);
  Serve(AddWorker());
  ASSERT_TRUE(call->status().ok());
  EXPECT_EQ(call->Answer().size(), bytes / sizeof(float));
  EXPECT_EQ(call->Answer().back(), 9);
  EXPECT_EQ(model_.metrics.input_slabs_leased, 0) << "freed at its end";
}

TEST_F(PoolSlabs, CancelWhileWaiting) {
  MakeFullPool();
  FakeCall* call = SubmitPatient(9);
  pool_->Cancel(&call->request);
  EXPECT_TRUE(absl::IsCancelled(call->status()));
  pool_->Cancel(&call->request);
  EXPECT_EQ(call->endings(), 1);
  Serve(AddWorker());
  EXPECT_EQ(filler_.filled, 0);
}

// The rows are filled on the supervisor's thread: the client may be gone meanwhile.
TEST_F(PoolSlabs, CancelWhileTheRowsAreBeingFilled) {
  class CancellingFiller final : public RowFiller {
   public:
    explicit CancellingFiller(std::unique_ptr<Pool>* pool) : pool_(pool) {}
    void Fill(const ModelSpec&, const Request& request, const RowTargets&) const override {
      (*pool_)->Cancel(const_cast<Request*>(&request));
      EXPECT_EQ(request.state, RequestState::kReserved) << "its rows are still written";
    }

   private:
    std::unique_ptr<Pool>* const pool_;
  };
  const CancellingFiller filler(&pool_);
  MakeFullPool();
  FakeCall* call = NewCall();
  call->request.filler = &filler;
  RowTargets targets;
  ASSERT_TRUE(pool_->Reserve(&call->request, &targets).ok());
  ASSERT_TRUE(targets.later);
  AddSegment(kMinSlabSegmentBytes, 1);
  EXPECT_TRUE(absl::IsCancelled(call->status()));
  EXPECT_EQ(model_.metrics.input_slabs_leased, kFirstRows);
  Serve(AddWorker());
}

TEST_F(PoolSlabs, DeadlineWhileWaiting) {
  MakeFullPool();
  FakeCall* call = SubmitPatient(9, kNsPerMs);
  TickAfter(kNsPerMs);
  EXPECT_EQ(call->status(), absl::DeadlineExceededError("Request timeout expired"));
  Serve(AddWorker());
}

TEST_F(PoolSlabs, TheEndOfTheServerEndsWhoWaits) {
  MakeFullPool();
  FakeCall* call = SubmitPatient(9);
  pool_->FailAll("Server exiting");
  EXPECT_EQ(call->status(), absl::UnavailableError("Server exiting"));
}

TEST_F(PoolSlabs, ASegmentThatIdlesIsRetiredAndTakesNoRows) {
  MakeSmallPool();
  AddSegment(kMinSlabSegmentBytes, 1);
  FillFirstSegment();
  FakeCall* beyond = Submit(2);
  constexpr uint32_t kIdle = 3;
  for (uint32_t i = 0; i < 2 * kIdle; ++i) {
    EXPECT_EQ(pool_->memory()->RetireIdle(kIdle), std::nullopt) << "a row lies in it";
  }
  Serve(AddWorker());
  EXPECT_EQ(beyond->Answer(), Row(2));
  EXPECT_EQ(pool_->memory()->RetireIdle(kIdle), std::nullopt);
  EXPECT_EQ(pool_->memory()->RetireIdle(kIdle), std::nullopt);
  EXPECT_EQ(pool_->memory()->RetireIdle(kIdle), std::optional<uint32_t>(1));
  EXPECT_EQ(pool_->memory()->RetireIdle(kIdle), std::nullopt) << "once";
  Kill(0, WorkerEnd::kKilled);
  FillFirstSegment();
  EXPECT_TRUE(absl::IsResourceExhausted(Submit(3)->status())) << "no row lies in it any more";
  EXPECT_EQ(pool_->memory()->Remove(1).bytes(), kMinSlabSegmentBytes);
  EXPECT_EQ(pool_->memory()->Descriptors().size(), 1u);
  AddSegment(kMinSlabSegmentBytes, 1);
  EXPECT_EQ(Submit(4)->endings(), 0) << "its number is used again";
  Serve(AddWorker());
}

TEST_F(PoolSlabs, TheFirstSegmentIsNeverRetired) {
  MakeSmallPool();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(pool_->memory()->RetireIdle(1), std::nullopt);
}

// The rate at which requests end says when a client that is refused may come again.
TEST_F(PoolSlabs, ARefusalSaysWhenToComeAgain) {
  const std::optional<int64_t> delay_ns = RetryDelayAfter([this](FakeWorker* worker, int) {
    Submit(1);
    worker->Complete(*worker->Take());
  });  // 100 a second
  ASSERT_TRUE(delay_ns.has_value());
  EXPECT_GE(*delay_ns, 5 * kNsPerMs);
  EXPECT_LE(*delay_ns, 40 * kNsPerMs);
}

TEST_F(PoolSlabs, ACancelledRequestIsNoAnswerThatMakesRoomSooner) {
  const std::optional<int64_t> delay_ns = RetryDelayAfter([this](FakeWorker* worker, int i) {
    FakeCall* call = Submit(1);
    const std::optional<FakeWorker::Job> job = worker->Take();
    if (i > 0) pool_->Cancel(&call->request);
    worker->Complete(*job);
  });  // one a second
  ASSERT_TRUE(delay_ns.has_value());
  EXPECT_GE(*delay_ns, kNsPerSecond / 2);
}

// A lease that an answer keeps is a lease, whether or not its worker lives.
TEST_F(PoolSlabs, TheGaugeCountsLeasesUntilTheyAreRead) {
  MakeSmallPool();
  FakeWorker* worker = AddWorker();
  FakeCall* call = Submit(5, 1, kTimeoutNs, /*keep_memory=*/true);
  Serve(worker);
  ASSERT_EQ(call->endings(), 1);
  EXPECT_EQ(model_.metrics.output_leases, 1);
  Kill(0, WorkerEnd::kKilled);
  pool_->Tick();
  EXPECT_EQ(model_.metrics.output_leases, 1);
  call->sink.DropMemory();
  pool_->Tick();
  EXPECT_EQ(model_.metrics.output_leases, 0);
}

}  // namespace
}  // namespace mpsd
