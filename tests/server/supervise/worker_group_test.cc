#include "server/supervise/worker_group.h"

#include <fcntl.h>

#include <atomic>
#include <bit>
#include <thread>

#include "proto/base/backoff_policy.h"
#include "server/request/retry_info.h"
#include "tests/server/supervise/supervise_fixture.h"

namespace mpsd {
namespace {

using testing::HasSubstr;

class WorkerGroupTest : public SuperviseFixture {
 protected:
  void MakeGroup(uint32_t processes, const std::function<void(SupervisedModel*)>& change = {}) {
    SupervisedModel model = MakeModel(&keeper_, processes);
    if (change) change(&model);
    served_ = model.served;
    pool_ = model.pool;
    plane_.Add(pool_);
    board_.Open(*served_);
    model.order.precision = order_precision_;
    served_->metrics.workers_configured = processes;
    group_.emplace(std::move(model), &services_);
    group_->StartDue();
  }

  void TearDown() override {
    if (!group_.has_value()) return;
    pool_->FailAll("left over");
    group_->Dismiss();
    group_->EndNow();
    group_->StartDue();  // forgets those that have left
    ASSERT_TRUE(group_->gone());
    group_->Close();
    group_.reset();
    EXPECT_EQ(budget_.taken_bytes(), 0u);
    EXPECT_EQ(served_->metrics.workers_configured, 0);
  }

  void Pump() {
    for (int round = 0; round < 8; ++round) {
      for (const uint64_t token : host_.Ready()) group_->OnEvent(token);
    }
  }

  // The process says so, and the group learns of it.
  template <typename T>
  void Say(FakeWorkerProcess& process, const T& message) {
    process.Say(message);
    Pump();
  }

  // Starts what is due then.
  void StartAfter(int64_t ns) {
    clock_.Advance(ns);
    group_->StartDue();
  }

  // Brings the process into service.
  void Serve(size_t number) {
    Say(host_.process(number), Report());
    Say(host_.process(number), Ready{});
  }

  // The process exits with 1, and the group starts what is due at once.
  void Die(size_t number) {
    host_.process(number).Exit(1);
    Pump();
    group_->StartDue();
  }

  // Ticks the group as its supervisor does, while the lanes of all that serve give signs, but for
  // those of the first `silent_` workers.
  void Pass(int64_t ns) {
    services_.thread.Check();
    for (int64_t at_ns = 0; at_ns < ns; at_ns += kWatchdogTickNs) {
      clock_.Advance(std::min(kWatchdogTickNs, ns - at_ns));
      for (const auto& worker : group_->workers()) Beat(worker.get());
      services_.own_time.Advance(clock_.NowNs());
      group_->Tick();
      group_->StartDue();
      Pump();
    }
  }

  void Beat(SupervisedWorker* worker) {
    if (worker->state() != WorkerState::kServing || worker->index() < silent_) return;
    auto [side, is_new] = sides_.try_emplace(worker->link());
    if (is_new) side->second.emplace(*worker->link(), pool_->memory()->Descriptors(), &clock_);
    side->second->report(0)->heartbeat.fetch_add(1);
  }

  // As a model's change: its workers are on these devices.
  static std::function<void(SupervisedModel*)> OnDevices(const std::vector<std::string>& devices) {
    return [devices](SupervisedModel* model) {
      for (size_t i = 0; i < devices.size(); ++i) model->processes.at(i).device = devices[i];
    };
  }

  WorkerState StateOf(uint32_t index) { return group_->Find(index)->state(); }

  Precision order_precision_ = Precision::kAsSaved;
  std::shared_ptr<ServedModel> served_;
  Pool* pool_ = nullptr;
  std::optional<WorkerGroup> group_;
  std::map<WorkerLink*, std::optional<FakeWorker>> sides_;
  std::atomic<bool> supervised_{false};
  uint32_t silent_ = 0;  // the first workers, whose lanes give no sign
};

// ---- starts ----

TEST_F(WorkerGroupTest, TheFirstThatHasLoadedSaysWhatTheModelTakes) {
  MakeGroup(2);
  EXPECT_EQ(host_.spawned(), 2u);
  EXPECT_EQ(group_->slabs(), nullptr);
  Serve(2);
  EXPECT_TRUE(served_->loaded);
  EXPECT_EQ(served_->spec, Spec());
  EXPECT_NE(group_->slabs(), nullptr);
  EXPECT_TRUE(served_->ready);
  Serve(1);
  EXPECT_EQ(StateOf(0), WorkerState::kServing);
}

TEST_F(WorkerGroupTest, EachWorkerIsHandedTheModelsFile) {
  MakeGroup(2, [](SupervisedModel* model) {
    model->files.push_back(UniqueFd(open("/dev/null", O_RDONLY)));
  });
  EXPECT_EQ(host_.process(1).sent_descriptors(), 1u);
  Die(2);
  Pass(10 * kNsPerSecond);
  ASSERT_EQ(host_.spawned(), 3u);
  EXPECT_EQ(host_.process(3).sent_descriptors(), 1u);
}

TEST_F(WorkerGroupTest, LabelsGoToTheOutputsThatHaveANumberAClass) {
  MakeGroup(1);
  LoadReport report = Report();
  report.spec.outputs = {{"kept", DataType::kFp32, {2}},
                         {"scores", DataType::kFp32, {2}},
                         {"other", DataType::kFp32, {3}}};
  report.labels = {"no", "yes"};
  served_->labels["kept"] = {"from", "config"};
  Say(host_.last(), report);
  EXPECT_EQ(served_->labels.size(), 2u);
  EXPECT_EQ(served_->labels["kept"][0], "from");
  EXPECT_EQ(served_->labels["scores"][1], "yes");
}

TEST_F(WorkerGroupTest, MoreLabelsThanCanBeServedAreRefused) {
  MakeGroup(1);
  LoadReport report = Report();
  report.labels.resize(kMaxLabels + 1);
  Say(host_.last(), report);
  EXPECT_TRUE(served_->labels.empty());
  EXPECT_FALSE(served_->loaded);
}

TEST_F(WorkerGroupTest, AnotherSpecThanTheServedOneIsRefused) {
  MakeGroup(2);
  Serve(1);
  LoadReport other = Report();
  other.spec.inputs[0].dims = {3};
  Say(host_.process(2), other);
  EXPECT_EQ(StateOf(1), WorkerState::kWaiting);
  EXPECT_EQ(board_.Workers(*served_)[1].last_words, "the model file is not the one that is served");
}

TEST_F(WorkerGroupTest, TheFirstThatHasLoadedSaysWhatAllComputeIn) {
  order_precision_ = Precision::kAuto;
  MakeGroup(2);
  LoadReport report = Report();
  report.precision = Precision::kBf16;
  report.precision_note = "it agrees";
  report.runtime = {"torch\t2.9.1", "patched", "/t", DriverGuard::kMissing, InputMemory::kCopied};
  Say(host_.process(1), report);
  EXPECT_EQ(served_->precision, Precision::kBf16);
  EXPECT_EQ(served_->precision_note, "it agrees");
  const WorkerRuntime runtime = board_.Workers(*served_)[0].runtime;
  EXPECT_EQ(runtime.name, "torch\\t2.9.1");
  EXPECT_EQ(runtime.kind, "patched");
  EXPECT_EQ(runtime.path, "/t");
  EXPECT_EQ(runtime.driver_guard, DriverGuard::kMissing);
  EXPECT_EQ(runtime.input_memory, InputMemory::kCopied);
  report.precision = Precision::kFp32;
  Say(host_.process(2), report);
  EXPECT_EQ(StateOf(1), WorkerState::kWaiting);
  EXPECT_EQ(board_.Workers(*served_)[1].last_words,
            "it computes in fp32, and the model's other workers in bf16");
  group_->Find(1)->Start();
  EXPECT_EQ(host_.last().LastSent<LoadOrder>()->precision, Precision::kBf16);
}

TEST_F(WorkerGroupTest, AnotherPrecisionThanTheOrderedOneIsRefused) {
  order_precision_ = Precision::kFp32;
  MakeGroup(1);
  LoadReport report = Report();
  report.precision = Precision::kBf16;
  Say(host_.last(), report);
  EXPECT_FALSE(served_->loaded);
  EXPECT_EQ(board_.Workers(*served_)[0].last_words, "it computes in bf16, not in fp32");
}

// ---- weights that workers share ----

class WeightsTest : public WorkerGroupTest {
 protected:
  static constexpr uint64_t kBytes = 1 << 20;

  // Processes on one device, all of which have loaded the model.
  void LoadAll(uint32_t processes, uint64_t weight_bytes = kBytes) {
    MakeGroup(processes, OnDevices(std::vector<std::string>(processes, "cuda:0")));
    for (uint32_t number = 1; number <= processes; ++number) Load(number, weight_bytes);
  }
  void Load(uint32_t number, uint64_t weight_bytes = kBytes) {
    LoadReport report = Report();
    report.weight_bytes = weight_bytes;
    Say(host_.process(number), report);
  }
  void TellShared(uint32_t number) {
    host_.process(number).SayWith(WeightsTold{kBytes}, UniqueFd(open("/dev/null", O_RDONLY)));
    Pump();
  }
  void Tell(uint32_t number, const WeightsTold& told) { Say(host_.process(number), told); }
  template <typename Order>
  bool Has(uint32_t number) {
    return host_.process(number).LastSent<Order>() != nullptr;
  }
};

TEST_F(WeightsTest, OneSharesThemAndTheOthersUseThem) {
  LoadAll(3);
  EXPECT_TRUE(Has<ShareWeights>(1));
  EXPECT_FALSE(Has<ShareWeights>(2) || Has<UseWeights>(2) || Has<AttachOrder>(2));
  TellShared(1);
  EXPECT_EQ(StateOf(0), WorkerState::kWarming);
  ASSERT_TRUE(Has<UseWeights>(2) && Has<UseWeights>(3));
  EXPECT_EQ(host_.process(2).sent_descriptors(), 1u);
  EXPECT_EQ(StateOf(1), WorkerState::kLoading);
  Tell(2, WeightsTold{kBytes});
  EXPECT_EQ(StateOf(1), WorkerState::kWarming);
  EXPECT_TRUE(Has<AttachOrder>(2));
}

TEST_F(WeightsTest, OneThatTakesTheirPlaceUsesThem) {
  LoadAll(2);
  TellShared(1);
  Tell(2, WeightsTold{kBytes});
  Die(1);
  Pass(10 * kNsPerSecond);
  ASSERT_EQ(host_.spawned(), 3u);
  Load(3);
  EXPECT_TRUE(Has<UseWeights>(3));
}

TEST_F(WeightsTest, WhoCannotUseThemServesWithItsOwn) {
  LoadAll(2);
  TellShared(1);
  Tell(2, WeightsTold{0, "they differ"});
  EXPECT_TRUE(Has<AttachOrder>(2));
  EXPECT_EQ(StateOf(1), WorkerState::kWarming);
}

TEST_F(WeightsTest, OneThatDiesWhileItSharesLeavesItsTurnToAnother) {
  LoadAll(3);
  Die(1);
  EXPECT_TRUE(Has<ShareWeights>(2));
  EXPECT_FALSE(Has<ShareWeights>(3));
  TellShared(2);
  EXPECT_TRUE(Has<UseWeights>(3));
}

TEST_F(WeightsTest, OneThatHangsWhileItSharesIsKilledAloneAndTheOthersGoOn) {
  LoadAll(2);
  Pass(group_->model().limits.load_timeout_ns + kNsPerSecond);
  EXPECT_EQ(host_.process(1).kills(), 1);
  EXPECT_EQ(host_.process(2).kills(), 0);
  EXPECT_TRUE(Has<ShareWeights>(2));
}

TEST_F(WeightsTest, AModelWithoutAnyIsNotAsked) {
  LoadAll(2, /*weight_bytes=*/0);
  EXPECT_FALSE(Has<ShareWeights>(1) || Has<ShareWeights>(2));
  EXPECT_EQ(StateOf(0), WorkerState::kWarming);
  EXPECT_EQ(StateOf(1), WorkerState::kWarming);
}

TEST_F(WeightsTest, OneThatIsAloneOnItsDeviceIsNotAsked) {
  MakeGroup(2, OnDevices({"cuda:0", "cuda:1"}));
  Load(1);
  Load(2);
  EXPECT_FALSE(Has<ShareWeights>(1) || Has<ShareWeights>(2));
}

TEST_F(WeightsTest, AnAnswerThatNobodyAskedForEndsTheWorker) {
  MakeGroup(1);
  Tell(1, WeightsTold{kBytes});
  EXPECT_EQ(host_.process(1).kills(), 1);
}

TEST_F(WeightsTest, ASecondReportEndsTheWorker) {
  LoadAll(2);
  Load(2);
  EXPECT_EQ(host_.process(2).kills(), 1);
}

TEST_F(WorkerGroupTest, ASpecThatCannotBeServedIsRefused) {
  MakeGroup(1);
  Say(host_.last(), LoadReport());
  EXPECT_FALSE(served_->loaded);
  EXPECT_EQ(StateOf(0), WorkerState::kWaiting);
  EXPECT_THAT(std::string(board_.Fault(*served_).message()), HasSubstr("without inputs"));
}

TEST_F(WorkerGroupTest, AModelWithoutMemoryIsSaidToThoseWhoWait) {
  budget_.Take(256 << 20, "another model").IgnoreError();
  MakeGroup(1);
  Say(host_.last(), Report());
  EXPECT_EQ(StateOf(0), WorkerState::kWaiting);
  EXPECT_EQ(board_.WaitUntilSettled([] { return false; }).code(),
            absl::StatusCode::kResourceExhausted);
  budget_.GiveBack(256 << 20);
}

TEST_F(WorkerGroupTest, AnUncreatableSegmentIsNotExplainedToClients) {
  MakeGroup(1);
  const absl::Status status = group_->NoSharedMemory(absl::InternalError("ftruncate: disk quota"));
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "no shared memory could be had for it; the log says why");
}

TEST_F(WorkerGroupTest, TheNextLookIsAtTheNextStart) {
  MakeGroup(1);
  EXPECT_EQ(group_->NextNs(clock_.NowNs()), INT64_MAX) << "nothing waits for a time";
  Die(1);
  Die(2);
  EXPECT_EQ(group_->NextNs(clock_.NowNs()), clock_.NowNs() + kFirstBackoffNs);
  StartAfter(kFirstBackoffNs - 1);
  EXPECT_EQ(host_.spawned(), 2u);
  StartAfter(1);
  EXPECT_EQ(host_.spawned(), 3u);
}

TEST_F(WorkerGroupTest, AnEventOfAnotherGroupIsNotTaken) {
  MakeGroup(1);
  const uint64_t first = group_->workers()[0]->first_token();
  EXPECT_FALSE(group_->OnEvent(first - 1));
  EXPECT_TRUE(group_->OnEvent(first));
  EXPECT_TRUE(group_->OnEvent(first + kTokensPerWorker - 1));
  EXPECT_FALSE(group_->OnEvent(first + kTokensPerWorker));
}

// ---- circuit ----

TEST_F(WorkerGroupTest, AfterTooManyDeathsTheModelRestsAndThenOneProbes) {
  MakeGroup(2, [](SupervisedModel* model) { model->limits.circuit.deaths = 3; });
  Die(1);
  Die(2);
  EXPECT_EQ(board_.Circuit(*served_), "closed");
  Die(3);
  EXPECT_EQ(board_.Circuit(*served_), "open");
  EXPECT_EQ(served_->metrics.circuit_open, 1);
  Die(4);
  const size_t before = host_.spawned();
  StartAfter(kFirstRestNs - 1);
  EXPECT_EQ(host_.spawned(), before);
  StartAfter(1);
  EXPECT_EQ(host_.spawned(), before + 1) << "one probes";
  EXPECT_EQ(board_.Circuit(*served_), "probing");
  EXPECT_EQ(group_->NextNs(clock_.NowNs()), INT64_MAX) << "the other waits for it";
  Serve(before + 1);
  group_->StartDue();
  EXPECT_EQ(board_.Circuit(*served_), "closed");
  EXPECT_EQ(host_.spawned(), before + 2);
  EXPECT_EQ(served_->metrics.circuit_open, 0);
}

TEST_F(WorkerGroupTest, AProbeThatDiesOpensTheCircuitAgain) {
  MakeGroup(1, [](SupervisedModel* model) { model->limits.circuit.deaths = 1; });
  Die(1);
  StartAfter(kFirstRestNs);
  ASSERT_EQ(host_.spawned(), 2u);
  Die(2);
  EXPECT_EQ(board_.Circuit(*served_), "open");
  StartAfter(2 * kFirstRestNs - 1);
  EXPECT_EQ(host_.spawned(), 2u) << "twice as long";
}

TEST_F(WorkerGroupTest, AFailureThatLastsIsNoReasonForARestOrAnotherStart) {
  MakeGroup(1, [](SupervisedModel* model) { model->limits.circuit.deaths = 1; });
  Say(host_.process(1), Failure{"it is no model", true});
  group_->StartDue();
  EXPECT_EQ(group_->NextNs(clock_.NowNs()), INT64_MAX);
  Pass(120 * kNsPerSecond);
  EXPECT_EQ(group_->Find(0)->epoch(), 1u);
  EXPECT_EQ(board_.Circuit(*served_), "closed");
}

TEST_F(WorkerGroupTest, RequestsDoNotWaitForAModelThatFailsForGood) {
  MakeGroup(1);
  Say(host_.process(1), Report());
  EXPECT_TRUE(served_->loaded);
  Say(host_.process(1), Failure{"its warm-up throws", true});
  EXPECT_TRUE(group_->Find(0)->life().failed());
  EXPECT_TRUE(absl::IsUnavailable(Submit(pool_, 1)->status()));
}

TEST_F(WorkerGroupTest, AModelThatAnotherWorkerLoadsHadNoFailureThatLasts) {
  MakeGroup(2);
  Say(host_.process(1), Failure{"it is no model", true});
  EXPECT_TRUE(group_->Find(0)->life().failed());
  Serve(2);
  EXPECT_FALSE(group_->Find(0)->life().failed());
  StartAfter(kFirstBackoffNs);
  EXPECT_EQ(group_->Find(0)->epoch(), 2u);
}

TEST_F(WorkerGroupTest, AKillFromOutsideSaysNothingAboutTheModel) {
  MakeGroup(1, [](SupervisedModel* model) { model->limits.circuit.deaths = 1; });
  host_.last().DieOf(SIGKILL);
  Pump();
  EXPECT_EQ(board_.Circuit(*served_), "closed");
}

TEST_F(WorkerGroupTest, ADeathPutDownToARequestSaysNothingAboutTheModel) {
  MakeGroup(1, [](SupervisedModel* model) { model->limits.circuit.deaths = 1; });
  Serve(1);
  FakeCall* call = Submit(pool_, 1);
  host_.last().DieOf(SIGSEGV);
  Pump();
  EXPECT_EQ(call->endings(), 0) << "it may have come from outside";
  EXPECT_EQ(board_.Circuit(*served_), "closed");
  group_->StartDue();
  Serve(2);
  host_.last().DieOf(SIGSEGV);
  Pump();
  EXPECT_EQ(call->endings(), 1);
  EXPECT_EQ(board_.Circuit(*served_), "closed");
}

// ---- device ----

TEST_F(WorkerGroupTest, WhoseDeviceIsLostAgainAndAgainWaitsForIt) {
  MakeGroup(1, OnDevices({"cuda"}));
  for (uint32_t loss = 1; loss <= kLossesInARow; ++loss) {
    ASSERT_EQ(host_.spawned(), loss);
    host_.last().Exit(kWorkerExitDeviceLost);
    Pump();
    StartAfter(kFirstDeviceRestNs - 1);
  }
  EXPECT_EQ(board_.Circuit(*served_), "open") << "it rests though its own circuit is closed";
  EXPECT_THAT(board_.Workers(*served_)[0].last_words, HasSubstr("device cuda:0 was lost 3 times"));
  StartAfter(1);
  EXPECT_EQ(host_.spawned(), kLossesInARow + 1);
  Serve(kLossesInARow + 1);
  EXPECT_EQ(board_.Circuit(*served_), "closed");
}

TEST_F(WorkerGroupTest, EachWorkerIsOrderedToItsDeviceInAllItsIncarnations) {
  MakeGroup(3, [](SupervisedModel* model) {
    model->processes = {{"cuda:0", 50}, {"cuda:1", 100}, {"cuda:0", 50}};
  });
  for (const size_t number : {1, 2, 3}) {
    const LoadOrder* order = host_.process(number).LastSent<LoadOrder>();
    EXPECT_EQ(order->device, number == 2 ? "cuda:1" : "cuda:0");
    EXPECT_EQ(order->memory_share_percent, number == 2 ? 100u : 50u);
  }
  Die(2);
  ASSERT_EQ(host_.spawned(), 4u);
  EXPECT_EQ(host_.last().LastSent<LoadOrder>()->device, "cuda:1");
  EXPECT_EQ(DevicesOf(board_.Workers(*served_)), "cuda:0,1");
}

TEST_F(WorkerGroupTest, ALostDeviceLetsNoWorkerOnAnotherOneWait) {
  MakeGroup(2, OnDevices({"cuda:0", "cuda:1"}));
  Serve(1);
  for (uint32_t loss = 1; loss <= kLossesInARow; ++loss) {
    host_.last().Exit(kWorkerExitDeviceLost);
    Pump();
    StartAfter(kFirstDeviceRestNs - 1);
  }
  EXPECT_EQ(StateOf(0), WorkerState::kServing);
  EXPECT_TRUE(served_->ready);
  EXPECT_THAT(board_.Workers(*served_)[1].last_words, HasSubstr("device cuda:1 was lost 3 times"));
  EXPECT_EQ(board_.Circuit(*served_), "open");
  Die(1);
  EXPECT_EQ(StateOf(0), WorkerState::kLoading) << "its own device is good";
  EXPECT_EQ(StateOf(1), WorkerState::kWaiting);
}

TEST_F(WorkerGroupTest, DeathsOnOneDeviceLetNoWorkerOnAnotherOneRest) {
  MakeGroup(3, [](SupervisedModel* model) {
    OnDevices({"cuda:0", "cuda:1", "cuda:1"})(model);
    model->limits.circuit.deaths = 2;
  });
  Die(2);
  Die(3);
  EXPECT_EQ(board_.Circuit(*served_), "open");
  EXPECT_EQ(StateOf(2), WorkerState::kWaiting);
  Die(1);
  EXPECT_EQ(StateOf(0), WorkerState::kLoading);
  Die(4);
  StartAfter(kFirstRestNs);
  EXPECT_EQ(StateOf(1), WorkerState::kLoading) << "it probes, whoever starts elsewhere";
  EXPECT_EQ(StateOf(2), WorkerState::kWaiting);
  EXPECT_EQ(board_.Circuit(*served_), "probing");
}

TEST_F(WorkerGroupTest, OfARequestThatKillsWorkersOnTwoDevicesNeitherDeathCounts) {
  MakeGroup(2, [](SupervisedModel* model) {
    OnDevices({"cuda:0", "cuda:1"})(model);
    model->limits.circuit.deaths = 2;
  });
  Serve(2);
  Pass(kWatchdogTickNs);
  for (int i = 0; i < 3; ++i) Submit(pool_, 1);
  FakeWorker* side = &*sides_[group_->Find(1)->link()];
  side->Complete(*side->Take());
  pool_->Drain();
  host_.process(2).DieOf(SIGSEGV);  // two requests were in it
  Pump();
  Serve(1);
  host_.process(1).DieOf(SIGSEGV);  // the first of them, alone
  Pump();
  group_->StartDue();
  ASSERT_EQ(host_.spawned(), 4u);
  Die(4);  // on the second device again
  EXPECT_EQ(board_.Circuit(*served_), "closed");
}

// ---- replacement ----

class ReplacementTest : public WorkerGroupTest {
 protected:
  static constexpr int64_t kAgeNs = 20 * kNsPerSecond;

  // A worker that serves, and the fresh one that is to replace it, on its way.
  void BeginReplacement() {
    MakeGroup(1, [](SupervisedModel* model) { model->limits.recycle.age_ns = kAgeNs; });
    Serve(1);
    Pass(kAgeNs - kWatchdogTickNs);
    EXPECT_EQ(host_.spawned(), 1u);
    Pass(kWatchdogTickNs);
    ASSERT_EQ(host_.spawned(), 2u);
    ASSERT_EQ(group_->Find(1)->state(), WorkerState::kLoading);
  }

  // Brings the last process into service, with a model whose answers have any size.
  void ServeAnswersOfAnySize() {
    LoadReport report = Report();
    report.spec.outputs[0].dims = {-1};
    host_.last().Say(report);
    Say(host_.last(), Ready{});
    Pass(kWatchdogTickNs);
  }

  // How a request ends whose answer of `bytes` has no room in the first worker's area.
  FakeCall* AskForAnAnswerTooLarge(uint64_t bytes) {
    FakeCall* call = Submit(pool_, 1);
    FakeWorker* side = &*sides_[group_->Find(0)->link()];
    side->CompleteWith(*side->Take(), BatchOutcome::kOutputTooLarge, "", bytes);
    pool_->Drain();
    return call;
  }

  uint64_t area_bytes() { return group_->Find(0)->link()->outputs().bytes; }

  // Leaves so many bytes of the budget; TearDown() wants the returned ones given back.
  uint64_t TakeAllBut(uint64_t left_bytes) {
    const uint64_t others = (256 << 20) - budget_.taken_bytes() - left_bytes;
    EXPECT_TRUE(budget_.Take(others, "others").ok());
    return others;
  }
};

TEST_F(ReplacementTest, TheFreshOneServesBeforeTheOldOneDrains) {
  BeginReplacement();
  Pass(kNsPerSecond);
  EXPECT_EQ(StateOf(0), WorkerState::kServing) << "as long as there is no other";
  FakeCall* call = Submit(pool_, 1);
  Serve(2);
  Pass(kWatchdogTickNs);
  EXPECT_EQ(StateOf(0), WorkerState::kDraining);
  EXPECT_EQ(served_->metrics.worker_recycles, 1u);
  Answer(&*sides_[group_->Find(0)->link()], pool_);
  EXPECT_TRUE(call->status().ok());
  Pass(2 * kWatchdogTickNs);
  EXPECT_EQ(group_->Find(0), nullptr) << "it has left";
  EXPECT_EQ(StateOf(1), WorkerState::kServing);
  EXPECT_EQ(host_.process(1).kills(), 0);
}

// ---- a worker that is silent ----

class StandInTest : public WorkerGroupTest {
 protected:
  // Serves with so many workers, of which the first ones are stopped.
  void StopWorkers(uint32_t processes, uint32_t stopped) {
    MakeGroup(processes);
    for (uint32_t number = 1; number <= processes; ++number) Serve(number);
    Pass(kNsPerSecond);
    for (uint32_t number = 1; number <= stopped; ++number) host_.process(number).Stop();
    silent_ = stopped;
  }

  void BeginStandIn() {
    StopWorkers(1, 1);
    Pass(kStoppedNs);
    EXPECT_EQ(host_.spawned(), 1u);
    Pass(kWatchdogTickNs);
    ASSERT_EQ(host_.spawned(), 2u);
  }
};

TEST_F(StandInTest, AnotherServesBesideTheOnlyWorkerThatIsStopped) {
  BeginStandIn();
  FakeCall* call = Submit(pool_, 1);
  Serve(2);
  Pass(kWatchdogTickNs);
  Answer(&*sides_[group_->Find(1)->link()], pool_);
  EXPECT_TRUE(call->status().ok()) << "the stopped one gets no batch";
  Pass(kIdleBudgetNs - 4 * kNsPerSecond);
  EXPECT_EQ(StateOf(0), WorkerState::kServing) << "it may go on";
  EXPECT_EQ(StateOf(1), WorkerState::kServing);
  EXPECT_EQ(host_.process(1).kills(), 0);
  EXPECT_EQ(host_.spawned(), 2u);
  EXPECT_EQ(served_->metrics.worker_recycles, 0u);
}

TEST_F(StandInTest, ItLeavesWhenTheStoppedOneGoesOn) {
  BeginStandIn();
  Serve(2);
  host_.process(1).Continue();
  silent_ = 0;
  Pass(3 * kWatchdogTickNs);
  EXPECT_EQ(group_->workers().size(), 1u);
  EXPECT_EQ(StateOf(0), WorkerState::kServing);
  EXPECT_EQ(host_.process(1).kills() + host_.process(2).kills(), 0);
  FakeCall* call = Submit(pool_, 1);
  Answer(&*sides_[group_->Find(0)->link()], pool_);
  EXPECT_TRUE(call->status().ok()) << "it gets batches again";
}

TEST_F(StandInTest, ItLeavesOnItsWayWhenTheStoppedOneGoesOn) {
  BeginStandIn();
  host_.process(1).Continue();
  silent_ = 0;
  Pass(2 * kWatchdogTickNs);
  EXPECT_EQ(group_->workers().size(), 1u);
  EXPECT_EQ(StateOf(0), WorkerState::kServing);
}

TEST_F(StandInTest, ItTakesThePlaceOfTheOneThatDies) {
  BeginStandIn();
  Serve(2);
  Pass(kIdleBudgetNs);
  EXPECT_EQ(host_.process(1).kills(), 1) << "its own watchdog ends it, as ever";
  EXPECT_EQ(group_->Find(0), nullptr);
  EXPECT_EQ(StateOf(1), WorkerState::kServing);
  Pass(kNsPerSecond);
  EXPECT_EQ(host_.spawned(), 2u);
}

TEST_F(StandInTest, RequestsInTheStoppedOneRunInItsPlaceOnceItServes) {
  StopWorkers(1, 1);
  FakeCall* call = Submit(pool_, 1);
  Pass(kStoppedNs + 2 * kWatchdogTickNs);
  ASSERT_EQ(host_.spawned(), 2u);
  EXPECT_EQ(host_.process(1).kills(), 0) << "nobody else could run them";
  Serve(2);
  Pass(kWatchdogTickNs);
  EXPECT_EQ(host_.process(1).kills(), 1);
  Answer(&*sides_[group_->Find(1)->link()], pool_);
  EXPECT_TRUE(call->status().ok());
  EXPECT_EQ(served_->metrics.dispatched_again, 1u);
  Pass(kNsPerSecond);
  EXPECT_EQ(host_.spawned(), 2u);
}

TEST_F(StandInTest, RequestsInAStoppedOneRunInAnotherWorkerThatServes) {
  MakeGroup(2);
  Serve(1);
  FakeCall* call = Submit(pool_, 1);
  Serve(2);
  host_.process(1).Stop();
  silent_ = 0;
  Pass(kStoppedNs);
  EXPECT_EQ(host_.process(1).kills(), 0) << "it may go on";
  Pass(2 * kWatchdogTickNs);
  EXPECT_EQ(host_.process(1).kills(), 1);
  Answer(&*sides_[group_->Find(1)->link()], pool_);
  EXPECT_TRUE(call->status().ok());
}

TEST_F(StandInTest, AStoppedOneWhoseRequestsNobodyAwaitsStays) {
  MakeGroup(2);
  Serve(1);
  FakeCall* call = Submit(pool_, 1);
  Serve(2);
  pool_->Cancel(&call->request);
  host_.process(1).Stop();
  silent_ = 1;
  Pass(kIdleBudgetNs);
  EXPECT_EQ(host_.process(1).kills(), 0);
}

TEST_F(StandInTest, NoneIsNeededWhereAnotherWorkerServes) {
  StopWorkers(2, 1);
  Pass(kIdleBudgetNs - kNsPerSecond);
  EXPECT_EQ(host_.spawned(), 2u);
}

TEST_F(StandInTest, AnIdleLaneWithoutAHeartbeatIsSilentTooAfterLonger) {
  StopWorkers(1, 1);
  host_.process(1).Continue();
  Pass(kUnheardNs);
  EXPECT_EQ(host_.spawned(), 1u);
  Pass(kWatchdogTickNs);
  EXPECT_EQ(host_.spawned(), 2u);
}

TEST_F(StandInTest, ALongBatchIsNoSilence) {
  StopWorkers(1, 1);
  host_.process(1).Continue();
  Submit(pool_, 1);
  Pass(kIdleBudgetNs);
  EXPECT_EQ(host_.spawned(), 1u);
}

TEST_F(StandInTest, WithoutMemoryForAFurtherOneNoneStarts) {
  StopWorkers(1, 1);
  host_.process(1).resident_bytes = host_.available_bytes = 1000;
  Pass(kIdleBudgetNs - kNsPerSecond);
  EXPECT_EQ(host_.spawned(), 1u);
}

class PressureTest : public ReplacementTest {
 protected:
  static constexpr uint64_t kLeast = PressureRelief::kLeastGrowthBytes;

  // A worker of `fresh_bytes` that serves, and has served well.
  void ServeWell(uint64_t fresh_bytes) {
    MakeGroup(1);
    host_.process(1).resident_bytes = fresh_bytes;
    Serve(1);
    Pass(kGoodServiceNs);
  }

  void Press(MemoryPressure pressure) {
    services_.thread.Check();
    services_.relief.Note(pressure, clock_.NowNs());
  }

  uint32_t Told() {
    const OwnedSegment& mailbox = group_->Find(0)->link()->mailbox_segment();
    const auto* page = reinterpret_cast<const MailboxPage*>(mailbox.data() + sizeof(SegmentHeader));
    return page->memory_pressure.load();
  }
};

TEST_F(PressureTest, WorkersAreToldOfIt) {
  ServeWell(kLeast);
  EXPECT_EQ(Told(), 0u);
  Press(MemoryPressure::kCritical);
  Pass(kWatchdogTickNs);
  EXPECT_EQ(Told(), 2u);
  Press(MemoryPressure::kNone);
  Pass(kWatchdogTickNs);
  EXPECT_EQ(Told(), 0u);
}

TEST_F(PressureTest, AWorkerThatHasGrownIsReplacedWithoutAGap) {
  ServeWell(kLeast);
  host_.process(1).resident_bytes = 2 * kLeast;
  Press(MemoryPressure::kWarn);
  Pass(PressureRelief::kPatienceNs);
  EXPECT_EQ(host_.spawned(), 1u) << "it trims";
  Press(MemoryPressure::kCritical);
  Pass(PressureRelief::kPatienceNs - kWatchdogTickNs);
  EXPECT_EQ(host_.spawned(), 1u) << "it may still trim";
  Pass(kWatchdogTickNs);
  ASSERT_EQ(host_.spawned(), 2u);
  EXPECT_EQ(StateOf(0), WorkerState::kServing);
  Serve(2);
  Pass(kWatchdogTickNs);
  EXPECT_EQ(StateOf(0), WorkerState::kDraining);
  EXPECT_EQ(host_.process(1).kills(), 0);
}

TEST_F(PressureTest, AWorkerThatHasNotGrownStays) {
  ServeWell(kLeast);
  host_.process(1).resident_bytes = 2 * kLeast - 1;
  Press(MemoryPressure::kCritical);
  Pass(PressureRelief::kPatienceNs + PressureRelief::kPauseNs);
  EXPECT_EQ(host_.spawned(), 1u);
}

TEST_F(PressureTest, WithoutMemoryForAFreshOneItStaysAndIsTriedAgainLater) {
  ServeWell(kLeast);
  host_.process(1).resident_bytes = 2 * kLeast;
  host_.available_bytes = 2 * kLeast;
  Press(MemoryPressure::kCritical);
  Pass(PressureRelief::kPatienceNs);
  host_.available_bytes = 2 * kLeast + 1;
  Pass(PressureRelief::kPauseNs - kWatchdogTickNs);
  EXPECT_EQ(host_.spawned(), 1u);
  Pass(kWatchdogTickNs);
  EXPECT_EQ(host_.spawned(), 2u);
}

TEST_F(ReplacementTest, TheFreshOneIsOnTheDeviceOfTheOldOne) {
  MakeGroup(2, [](SupervisedModel* model) {
    model->processes = {{"cuda:0", 33}, {"cuda:1", 50}};
    model->limits.recycle.age_ns = kAgeNs;
  });
  Serve(2);
  Pass(kWatchdogTickNs);
  Serve(1);
  Pass(kAgeNs - kWatchdogTickNs);
  ASSERT_EQ(host_.spawned(), 3u);
  EXPECT_EQ(group_->Find(2)->share(), (DeviceShare{"cuda:1", 50})) << "of the eldest";
}

TEST_F(ReplacementTest, OneThatFailsLeavesTheOldOneAndIsTriedAgainLater) {
  BeginReplacement();
  host_.last().Exit(1);
  Pump();
  Pass(kWatchdogTickNs);
  EXPECT_EQ(group_->Find(1), nullptr);
  EXPECT_EQ(StateOf(0), WorkerState::kServing);
  Pass(29 * kNsPerSecond);
  EXPECT_EQ(host_.spawned(), 2u);
  Pass(kNsPerSecond);
  EXPECT_EQ(host_.spawned(), 3u);
  EXPECT_EQ(group_->Find(1)->epoch(), 2u) << "an epoch is used once";
}

TEST_F(ReplacementTest, AnOldOneThatDiesMeanwhileIsNotStartedAgain) {
  BeginReplacement();
  Die(1);
  EXPECT_EQ(group_->Find(0), nullptr);
  Serve(2);
  Pass(kWatchdogTickNs);
  EXPECT_EQ(group_->workers().size(), 1u);
  EXPECT_EQ(host_.spawned(), 2u);
  EXPECT_EQ(StateOf(1), WorkerState::kServing);
}

TEST_F(ReplacementTest, WithoutMemoryForAFurtherOneItDoesNotBegin) {
  MakeGroup(1, [](SupervisedModel* model) { model->limits.recycle.age_ns = kAgeNs; });
  Serve(1);
  host_.process(1).resident_bytes = 1000;
  host_.available_bytes = 1000;
  Pass(kAgeNs);
  EXPECT_EQ(host_.spawned(), 1u);
  host_.available_bytes = 1001;
  Pass(30 * kNsPerSecond);
  EXPECT_EQ(host_.spawned(), 2u);
}

TEST_F(ReplacementTest, WithoutMemoryForALargerOneNoneIsPromised) {
  MakeGroup(1);
  ServeAnswersOfAnySize();
  host_.process(1).resident_bytes = host_.available_bytes = 1000;
  FakeCall* first = AskForAnAnswerTooLarge(area_bytes());
  EXPECT_EQ(first->endings(), 0) << "it waits for a larger worker";
  Pass(kWatchdogTickNs);
  EXPECT_EQ(host_.spawned(), 1u);
  for (const FakeCall* call : {first, AskForAnAnswerTooLarge(area_bytes())}) {
    EXPECT_TRUE(absl::IsResourceExhausted(call->status()));
    EXPECT_FALSE(RetryAfterNs(call->status()).has_value());
  }
}

TEST_F(ReplacementTest, WhereMemoryIsShortTheLargerOneHasRoomForOneLargeAnswer) {
  MakeGroup(1);
  ServeAnswersOfAnySize();
  const uint64_t answer_bytes = std::bit_ceil(area_bytes());
  AskForAnAnswerTooLarge(answer_bytes);
  const uint64_t others = TakeAllBut(2 * answer_bytes);
  Pass(kWatchdogTickNs);
  ASSERT_EQ(host_.spawned(), 2u);
  ServeAnswersOfAnySize();
  ASSERT_EQ(StateOf(1), WorkerState::kServing);
  EXPECT_EQ(group_->Find(1)->link()->outputs().bytes, answer_bytes);
  EXPECT_EQ(group_->Find(1)->link()->outputs().largest_lease_bytes, answer_bytes);
  budget_.GiveBack(others);
}

TEST_F(ReplacementTest, AWorkerThatCannotBeLargerServesAsItWas) {
  MakeGroup(1);
  ServeAnswersOfAnySize();
  const uint64_t before_bytes = area_bytes();
  AskForAnAnswerTooLarge(before_bytes);
  ASSERT_TRUE(pool_->workers()->IsTooSmall(0));
  const uint64_t others = TakeAllBut(0);
  Die(1);
  Pass(kNsPerSecond);
  ASSERT_EQ(host_.spawned(), 2u);
  ServeAnswersOfAnySize();
  ASSERT_EQ(StateOf(0), WorkerState::kServing);
  EXPECT_EQ(area_bytes(), before_bytes);
  EXPECT_FALSE(pool_->workers()->IsTooSmall(0)) << "and no larger one is tried at once";
  budget_.GiveBack(others);
}

TEST_F(ReplacementTest, AWorkerThatHasGrownIsReplaced) {
  MakeGroup(1, [](SupervisedModel* model) { model->limits.recycle.resident_bytes = 1000; });
  Serve(1);
  Pass(kGoodServiceNs);
  EXPECT_EQ(host_.spawned(), 1u);
  host_.process(1).resident_bytes = 1000;
  Pass(kWatchdogTickNs);
  EXPECT_EQ(host_.spawned(), 2u);
}

TEST_F(ReplacementTest, ARetiredGroupReplacesNobody) {
  MakeGroup(1, [](SupervisedModel* model) { model->limits.recycle.age_ns = kAgeNs; });
  Serve(1);
  FakeCall* call = Submit(pool_, 1);
  Beat(group_->Find(0));
  group_->Retire();
  Pass(kAgeNs + kWatchdogTickNs);
  EXPECT_EQ(host_.spawned(), 1u);
  Answer(&*sides_[group_->Find(0)->link()], pool_);
  EXPECT_TRUE(call->status().ok());
}

// ---- memory ----

TEST_F(WorkerGroupTest, AWorkerThatDoesNotSayWhatItHasMappedIsKilled) {
  MakeGroup(1, [](SupervisedModel* model) { model->limits.warmup_timeout_ns = INT64_MAX; });
  Say(host_.last(), Report());
  absl::StatusOr<OwnedSegment> further =
      OwnedSegment::Create(SegmentKind::kSlabs, 64 * platform::PageBytes(), 0);
  ASSERT_TRUE(further.ok() && budget_.Take(further->bytes(), "more").ok());
  pool_->memory()->Add(*std::move(further), 1);
  Die(1);
  Say(host_.last(), Report());
  ASSERT_NE(host_.last().LastSent<SlabsAdded>(), nullptr);
  Pass(SlabAnnouncer::kPatienceNs);
  EXPECT_EQ(host_.last().kills(), 0) << "it warms up";
  Say(host_.last(), Ready{});
  Pass(SlabAnnouncer::kPatienceNs);
  EXPECT_EQ(host_.process(2).kills(), 0);
  Pass(2 * kWatchdogTickNs);
  EXPECT_EQ(host_.process(2).kills(), 1);
}

// ---- the end ----

TEST_F(WorkerGroupTest, ARetiredGroupGoesOnceNothingIsInside) {
  MakeGroup(2);
  Serve(1);
  Serve(2);
  FakeCall* call = Submit(pool_, 1);
  for (const auto& worker : group_->workers()) Beat(worker.get());
  group_->Retire();
  EXPECT_TRUE(group_->ends_soon());
  EXPECT_EQ(group_->NextNs(clock_.NowNs()), clock_.NowNs() + 20 * kNsPerMs);
  Pass(kNsPerSecond);
  EXPECT_EQ(group_->workers().size(), 2u);
  for (auto& [link, side] : sides_) Answer(&*side, pool_);
  EXPECT_TRUE(call->status().ok());
  Pass(2 * kWatchdogTickNs);
  EXPECT_TRUE(group_->gone());
}

TEST_F(WorkerGroupTest, ADismissedGroupGoesWhateverIsInside) {
  MakeGroup(2);
  Serve(1);
  Submit(pool_, 1);
  host_.process(2).ignores_hang = true;
  group_->Dismiss();
  Pump();
  group_->StartDue();
  EXPECT_EQ(group_->workers().size(), 1u);
  EXPECT_FALSE(group_->gone());
  Pass(kNsPerSecond + kWatchdogTickNs);
  EXPECT_EQ(host_.process(2).kills(), 1);
  EXPECT_TRUE(group_->gone());
  EXPECT_EQ(host_.spawned(), 2u) << "nobody starts again";
}

using WorkerGroupDeathTest = WorkerGroupTest;

TEST_F(WorkerGroupDeathTest, AGroupWithWorkersIsNotClosed) {
  MakeGroup(1);
  EXPECT_DEATH(group_->Close(), "check failed");
}

TEST_F(WorkerGroupDeathTest, AnotherThreadMayNotTouchIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  MakeGroup(1);
  const auto touch = [this] {
    std::thread supervisor([this] {
      services_.thread.Bind();
      supervised_ = true;
      while (true) std::this_thread::yield();
    });
    while (!supervised_) std::this_thread::yield();
    group_->Tick();
  };
  EXPECT_DEATH(touch(), "check failed");
}

}  // namespace
}  // namespace mpsd
