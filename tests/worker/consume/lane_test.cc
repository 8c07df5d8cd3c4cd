#include "worker/consume/lane.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_model.h"
#include "tests/worker/consume/front_memory.h"

namespace mpsd {
namespace {

using testing::ElementsAre;

constexpr uint64_t kLeaseBytes = 64;

// A lane and its memory. Both live until the process ends, because a lane is never asked to stop.
struct Rig {
  Rig(FakeModel::RunFunction run, const ModelSpec& spec, int64_t keep_warm)
      : model(spec, std::move(run), {.gives_memory_back = true}), keep_warm_ns(keep_warm) {}

  FrontMemory front;
  FakeModel model;
  const int64_t keep_warm_ns;
  FakeClock clock;
  RunGate gate;
  Attachment attachment = Attachment::Map(front.Order(), front.Fds(), 1, 1).value();
  Lane lane{0, &attachment, &model, &clock, {keep_warm_ns, {}, &gate, /*trim_wait_ns=*/kNsPerMs}};
  RingProducer submit{front.mailbox(0)->submit_entries, &front.mailbox(0)->submit_tail,
                      &front.report(0)->submit_head};
  RingConsumer completions{front.report(0)->completion_entries, &front.report(0)->completion_tail,
                           &front.mailbox(0)->completion_head};
  LaneBell bell{&front.mailbox(0)->sequence, &front.report(0)->parked};
};

// Keeps every rig reachable, so that leak checkers accept it.
Rig* NewRig(FakeModel::RunFunction run, int64_t keep_warm_ns = 0) {
  static auto* const rigs = new std::vector<Rig*>;
  ModelSpec spec;
  spec.max_batch_size = 4;
  spec.inputs = {{"A", DataType::kFp32, {1}}};
  spec.outputs = {{"A", DataType::kFp32, {1}}};
  rigs->push_back(new Rig(std::move(run), spec, keep_warm_ns));
  return rigs->back();
}

void WaitUntil(const std::function<bool()>& done) {
  while (!done()) std::this_thread::yield();
}

// Its warm-up runs zeros.
TEST(LaneWarmUp, AModelThatRefusesItServesWithAWarning) {
  Rig* const rig = NewRig([](absl::Span<const InputTensor>, uint32_t, OutputSink*) {
    return absl::InternalError("it takes no zeros");
  });
  rig->lane.Start(WarmUp::kSmallest);
  EXPECT_TRUE(rig->lane.WarmedUp().ok());
  EXPECT_EQ(rig->lane.warning(), "it takes no zeros");
}

// Its batches of so many rows run in parts.
TEST(LaneWarmUp, ALaneServesWhoseLargestShapeLacksMemory) {
  Rig* const rig = NewRig([](auto inputs, uint32_t rows, OutputSink* sink) {
    return rows == 4 ? absl::ResourceExhaustedError("no memory for 4 rows")
                     : EchoInputs(inputs, rows, sink);
  });
  rig->lane.Start(WarmUp::kAll);
  EXPECT_TRUE(rig->lane.WarmedUp().ok());
  EXPECT_EQ(rig->lane.warning(), "no memory for 4 rows");
}

class LaneTest : public testing::Test {
 protected:
  void Start(FakeModel::RunFunction run = EchoInputs, int64_t keep_warm_ns = 0) {
    const auto counted = [this, run = std::move(run)](auto inputs, uint32_t rows,
                                                      OutputSink* sink) {
      runs_.fetch_add(1);
      return run(inputs, rows, sink);
    };
    rig_ = NewRig(counted, keep_warm_ns);
    rig_->lane.Start(WarmUp::kNone);
    ASSERT_TRUE(rig_->lane.WarmedUp().ok());
  }

  // Makes the record of `slot` a batch of one row that holds `value`.
  BatchRecord* WriteBatch(uint32_t slot, uint64_t id, float value) {
    const uint64_t slab_offset = sizeof(SegmentHeader) + slot * 64;
    std::memcpy(rig_->front.slab(0) + slab_offset, &value, sizeof(value));
    BatchRecord* record = &rig_->front.mailbox(0)->records[slot];
    record->batch_id = id;
    record->live_until_ns = rig_->clock.NowNs() + kNsPerSecond;
    record->output_offset = rig_->front.output_offset() + slot * kLeaseBytes;
    record->output_bytes = kLeaseBytes;
    record->row_count = record->run_count = record->input_count = record->has_batch_dim = 1;
    record->cancelled.store(0);
    record->inputs[0] = {static_cast<uint32_t>(DataType::kFp32), 1, {1}, 4};
    record->runs[0] = {0, 1, 0, 1, slab_offset};
    return record;
  }

  // Publishes the record as the front end does. True when the lane had to be woken.
  bool Submit(uint32_t slot) {
    EXPECT_TRUE(rig_->submit.Push(slot));
    if (!rig_->bell.Ring()) return false;
    rig_->bell.Wake();
    return true;
  }

  // Takes the next completion, as the front end does.
  const CompletionRecord& Take() {
    WaitUntil([this] { return rig_->completions.Pending(); });
    EXPECT_FALSE(rig_->completions.Corrupt());
    const uint32_t slot = rig_->completions.Peek();
    rig_->completions.Pop();
    EXPECT_LT(slot, kRingEntries);
    return rig_->front.report(0)->records[slot % kRingEntries];
  }

  float Output(uint32_t slot) const {
    float value = 0;
    const uint64_t offset = rig_->front.output_offset() + slot * kLeaseBytes;
    std::memcpy(&value, rig_->front.worker_data() + offset, sizeof(value));
    return value;
  }

  void WaitUntilParked() {
    WaitUntil([this] { return rig_->front.report(0)->parked.load() != 0; });
  }

  // Has a lane without a batch look what there is to do, and waits until it has.
  void WakeForNothing() {
    WaitUntilParked();
    const uint32_t before = rig_->front.report(0)->heartbeat.load();
    if (rig_->bell.Ring()) rig_->bell.Wake();
    WaitUntil([&] { return rig_->front.report(0)->heartbeat.load() != before; });
    WaitUntilParked();
  }

  Rig* rig_ = nullptr;
  std::atomic<int> runs_{0};
};

TEST_F(LaneTest, CompletesWhatWasSubmitted) {
  Start();
  WriteBatch(2, 41, 2.5F);
  Submit(2);
  const CompletionRecord& record = Take();
  EXPECT_EQ(&record, &rig_->front.report(0)->records[2]);
  EXPECT_EQ(record.batch_id, 41u);
  EXPECT_EQ(record.outcome, BatchOutcome::kDone);
  EXPECT_EQ(record.row_count, 1u);
  ASSERT_EQ(record.output_count, 1u);
  EXPECT_EQ(record.outputs[0].bytes, 4u);
  EXPECT_EQ(Output(2), 2.5F);
  EXPECT_EQ(rig_->front.report(0)->submit_head.load(), 1u);
}

TEST_F(LaneTest, SaysWhyTheModelFailedAndGoesOn) {
  Start([](absl::Span<const InputTensor> inputs, uint32_t rows, OutputSink* sink) {
    const bool bad = *static_cast<const float*>(inputs[0].data) < 0;
    return bad ? absl::InternalError("negative") : EchoInputs(inputs, rows, sink);
  });
  WriteBatch(0, 1, -1.0F);
  Submit(0);
  const CompletionRecord& failed = Take();
  EXPECT_EQ(failed.outcome, BatchOutcome::kFailed);
  EXPECT_EQ(std::string(failed.text, failed.text_bytes), "negative");
  WriteBatch(1, 2, 1.0F);
  Submit(1);
  EXPECT_EQ(Take().outcome, BatchOutcome::kDone);
}

TEST_F(LaneTest, SkipsABatchThatWasCancelled) {
  Start();
  WriteBatch(0, 1, 1.0F)->cancelled.store(1);
  Submit(0);
  const CompletionRecord& record = Take();
  EXPECT_EQ(record.batch_id, 1u);
  EXPECT_EQ(record.outcome, BatchOutcome::kSkipped);
  EXPECT_EQ(record.output_count, 0u);
  EXPECT_EQ(record.text_bytes, 0u);
  EXPECT_EQ(runs_.load(), 0);
}

TEST_F(LaneTest, SkipsABatchWhoseTimeHasCome) {
  Start();
  WriteBatch(0, 1, 1.0F)->live_until_ns = rig_->clock.NowNs();
  WriteBatch(1, 2, 2.0F)->live_until_ns = rig_->clock.NowNs() + 1;
  Submit(0);
  Submit(1);
  EXPECT_EQ(Take().outcome, BatchOutcome::kSkipped);
  EXPECT_EQ(Take().outcome, BatchOutcome::kDone);
  EXPECT_EQ(runs_.load(), 1);
}

TEST_F(LaneTest, RefusesAMalformedBatchAndGoesOn) {
  Start();
  WriteBatch(0, 1, 1.0F)->runs[0].segment = 9;
  WriteBatch(1, 2, 2.0F);
  Submit(0);
  Submit(1);
  const CompletionRecord& refused = Take();
  EXPECT_EQ(refused.batch_id, 1u);
  EXPECT_EQ(refused.outcome, BatchOutcome::kFailed);
  EXPECT_THAT(std::string(refused.text, refused.text_bytes), testing::HasSubstr("malformed"));
  EXPECT_EQ(Take().outcome, BatchOutcome::kDone);
  EXPECT_EQ(runs_.load(), 1);
}

TEST_F(LaneTest, KeepsTheOrderOfWhatWaits) {
  std::atomic<bool> open{false};
  Start([&open](auto inputs, uint32_t rows, OutputSink* sink) {
    WaitUntil([&open] { return open.load(); });
    return EchoInputs(inputs, rows, sink);
  });
  const uint32_t slots[] = {3, 0, 2, 1};
  for (const uint32_t slot : slots) WriteBatch(slot, 100 + slot, static_cast<float>(slot));
  for (const uint32_t slot : slots) Submit(slot);
  open.store(true);
  std::vector<uint64_t> ids;
  for (int i = 0; i < 4; ++i) ids.push_back(Take().batch_id);
  EXPECT_THAT(ids, ElementsAre(103, 100, 102, 101));
  for (const uint32_t slot : slots) EXPECT_EQ(Output(slot), static_cast<float>(slot));
}

// ---- sleeping ----

TEST_F(LaneTest, ParksAndIsWoken) {
  Start();
  for (uint32_t i = 0; i < 2000; ++i) {
    WaitUntilParked();
    WriteBatch(i % kRingEntries, i, static_cast<float>(i));
    Submit(i % kRingEntries);
    const CompletionRecord& record = Take();
    ASSERT_EQ(record.batch_id, i);
    ASSERT_EQ(Output(i % kRingEntries), static_cast<float>(i));
  }
  EXPECT_GT(rig_->front.mailbox(0)->sequence.load(), 0u) << "the bell was never needed";
  EXPECT_EQ(rig_->front.report(0)->timeout_wakeups.load(), 0u);
}

TEST_F(LaneTest, IsNotRungForWhileItWorks) {
  std::atomic<bool> open{false};
  Start([&open](auto inputs, uint32_t rows, OutputSink* sink) {
    WaitUntil([&open] { return open.load(); });
    return EchoInputs(inputs, rows, sink);
  });
  WriteBatch(0, 1, 1.0F);
  WriteBatch(1, 2, 2.0F);
  Submit(0);
  WaitUntil([this] { return runs_.load() == 1; });
  EXPECT_EQ(rig_->front.report(0)->parked.load(), 0u);
  EXPECT_FALSE(Submit(1));
  open.store(true);
  EXPECT_EQ(Take().batch_id, 1u);
  EXPECT_EQ(Take().batch_id, 2u);
}

TEST_F(LaneTest, RingsTheFrontEndOnlyWhenThatIsParked) {
  Start();
  pollfd waited{rig_->front.bell_poll_fd(), POLLIN, 0};
  WriteBatch(0, 1, 1.0F);
  Submit(0);
  Take();
  WaitUntilParked();  // the lane has finished everything that follows a completion
  EXPECT_EQ(poll(&waited, 1, 0), 0);
  rig_->front.page()->front_parked.store(1);
  WriteBatch(1, 2, 2.0F);
  Submit(1);
  EXPECT_EQ(poll(&waited, 1, -1), 1);
  EXPECT_EQ(Take().batch_id, 2u);
}

// ---- without a batch ----

TEST_F(LaneTest, RunsItsModelOnceAfterTheTimeWithoutABatch) {
  Start(EchoInputs, 10 * kNsPerSecond);
  rig_->clock.Advance(10 * kNsPerSecond - 1);
  WakeForNothing();
  EXPECT_EQ(runs_.load(), 0);
  rig_->clock.Advance(1);
  WakeForNothing();
  WakeForNothing();
  EXPECT_EQ(runs_.load(), 1);
  EXPECT_EQ(rig_->front.report(0)->keep_warm_runs.load(), 1u);
  EXPECT_FALSE(rig_->completions.Pending()) << "nobody has asked for it";
}

TEST_F(LaneTest, ABatchIsARunToo) {
  Start(EchoInputs, 10 * kNsPerSecond);
  rig_->clock.Advance(10 * kNsPerSecond);
  WriteBatch(0, 1, 1.0F);
  Submit(0);
  EXPECT_EQ(Take().outcome, BatchOutcome::kDone);
  WakeForNothing();
  EXPECT_EQ(runs_.load(), 1) << "the batch";
}

TEST_F(LaneTest, AfterARunThatFailedItKeepsNothingWarm) {
  Start([](auto, uint32_t, OutputSink*) { return absl::InternalError("it takes no zeros"); },
        kNsPerSecond);
  for (int i = 0; i < 3; ++i) {
    rig_->clock.Advance(kNsPerSecond);
    WakeForNothing();
  }
  EXPECT_EQ(runs_.load(), 1);
  EXPECT_EQ(rig_->front.report(0)->keep_warm_runs.load(), 0u);
}

TEST_F(LaneTest, TrimsWhenTheFrontEndSaysThatMemoryIsShort) {
  Start();
  rig_->model.unused_bytes = 1;
  WakeForNothing();
  EXPECT_EQ(rig_->model.unused_bytes, 1u) << "too little to trim for";
  rig_->front.page()->memory_pressure.store(static_cast<uint32_t>(MemoryPressure::kWarn));
  WakeForNothing();
  EXPECT_EQ(rig_->model.unused_bytes, 0u);
  EXPECT_EQ(rig_->front.report(0)->memory_trims.load(), 1u);
}

TEST_F(LaneTest, AtTheCriticalLevelItTrimsAfterItsBatch) {
  Start();
  rig_->front.page()->memory_pressure.store(static_cast<uint32_t>(MemoryPressure::kCritical));
  rig_->model.unused_bytes = 1;
  WriteBatch(0, 1, 1.0F);
  Submit(0);
  EXPECT_EQ(Take().outcome, BatchOutcome::kDone);
  WaitUntilParked();
  EXPECT_EQ(rig_->model.unused_bytes, 0u);
}

// Or the front end took the lane for one that hangs.
TEST_F(LaneTest, ATrimThatOtherLanesLeaveNoTimeForIsTriedAtTheNextLook) {
  Start();
  rig_->front.page()->memory_pressure.store(static_cast<uint32_t>(MemoryPressure::kCritical));
  rig_->model.unused_bytes = 1;
  {
    const RunGate::Run batch_of_another_lane(&rig_->gate);
    WakeForNothing();
    WakeForNothing();
    EXPECT_EQ(rig_->model.unused_bytes, 1u);
  }
  WakeForNothing();
  EXPECT_EQ(rig_->model.unused_bytes, 0u);
}

TEST_F(LaneTest, ALevelThatItDoesNotKnowIsNone) {
  Start();
  rig_->model.unused_bytes = UpkeepPolicy::kWatermarkBytes;
  rig_->front.page()->memory_pressure.store(3);
  WakeForNothing();
  EXPECT_EQ(rig_->model.unused_bytes, UpkeepPolicy::kWatermarkBytes);
  rig_->clock.Advance(UpkeepPolicy::kQuietNs);
  WakeForNothing();
  EXPECT_EQ(rig_->model.unused_bytes, 0u);
}

TEST(LaneDeathTest, ADeviceThatIsLostWhileTheModelIsKeptWarmEndsTheWorker) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto serve = [] {
    Rig* rig = NewRig([](auto, uint32_t, OutputSink*) { return absl::DataLossError("it is gone"); },
                      kNsPerSecond);
    rig->lane.Start(WarmUp::kNone);
    rig->clock.Advance(2 * kNsPerSecond);
    WaitUntil([] { return false; });
  };
  EXPECT_EXIT(serve(), testing::ExitedWithCode(kWorkerExitDeviceLost),
              "the device is lost: it is gone");
}

// ---- before it serves ----

TEST_F(LaneTest, WarmsUpBeforeItServes) {
  rig_ = NewRig([this](auto inputs, uint32_t rows, OutputSink* sink) {
    runs_.fetch_add(1);
    return EchoInputs(inputs, rows, sink);
  });
  rig_->lane.Start(WarmUp::kSmallest);
  EXPECT_TRUE(rig_->lane.WarmedUp().ok());
  EXPECT_EQ(runs_.load(), 1);
}

TEST_F(LaneTest, SaysWhyItCannotServe) {
  rig_ = NewRig([](auto, uint32_t, OutputSink*) { return absl::ResourceExhaustedError("cold"); });
  rig_->lane.Start(WarmUp::kSmallest);
  EXPECT_EQ(rig_->lane.WarmedUp(), absl::ResourceExhaustedError("cold"));

  rig_ = NewRig(EchoInputs);
  rig_->model.bind_status = absl::InternalError("no stream is left");
  rig_->lane.Start(WarmUp::kNone);
  EXPECT_EQ(rig_->lane.WarmedUp(), absl::InternalError("no stream is left"));
}

// ---- a front end that lies ----

TEST(LaneDeathTest, EndsTheWorkerAtATailThatLies) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto serve = [] {
    Rig* rig = NewRig(EchoInputs);
    rig->front.mailbox(0)->submit_tail.store(kRingEntries + 1);
    rig->lane.Start(WarmUp::kNone);
    WaitUntil([] { return false; });
  };
  EXPECT_DEATH(serve(), "check failed");
}

TEST(LaneDeathTest, EndsTheWorkerAtAnEntryThatNamesNoRecord) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto serve = [] {
    Rig* rig = NewRig(EchoInputs);
    rig->submit.Push(kRingEntries);
    rig->lane.Start(WarmUp::kNone);
    WaitUntil([] { return false; });
  };
  EXPECT_DEATH(serve(), "check failed");
}

// ---- threads ----

TEST(LaneDeathTest, ServesOnlyOnTheThreadThatWarmedItUp) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto serve = [] {
    Rig* rig = NewRig(EchoInputs);
    // A lane that served here would end at this lie, with other words.
    rig->front.mailbox(0)->submit_tail.store(kRingEntries + 1);
    EXPECT_TRUE(rig->lane.WarmUpHere(WarmUp::kNone).ok());
    std::thread([rig] { rig->lane.RunHere(); }).join();
  };
  EXPECT_DEATH(serve(), "check failed: holder");
}

}  // namespace
}  // namespace mpsd
