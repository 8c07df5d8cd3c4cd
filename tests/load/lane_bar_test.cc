#include "load_tests/bars/lane_bar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/fakes/fake_clock.h"

namespace mpsd::load {
namespace {

using testing::HasSubstr;

constexpr uint32_t kLanes = 4;

// Answers with its second input, which `answer` may change in one stage. Counts lanes that run
// unbound, twice bound, or on another thread than they were bound on.
class EchoModel final : public Model {
 public:
  using Answer = std::function<absl::Status(uint32_t lane, const InputTensor& x, float* y)>;

  EchoModel() : Model(ModelSpec()) {}

  absl::Status BindLane(uint32_t lane) override {
    if (lane == refused_lane) return absl::ResourceExhaustedError("no stream");
    if (bound_[lane].exchange(true)) ++misuses;
    threads[lane] = std::this_thread::get_id();
    return absl::OkStatus();
  }
  void ReleaseLane(uint32_t lane) override {
    if (!bound_[lane].exchange(false)) ++misuses;
  }
  absl::Status Run(uint32_t lane, absl::Span<const InputTensor> inputs, uint32_t,
                   OutputSink* sink) override {
    if (!bound_[lane] || threads[lane] != std::this_thread::get_id()) ++misuses;
    const InputTensor& x = inputs[1];
    auto* y = static_cast<float*>(sink->Add(x.datatype, x.dims));
    std::memcpy(y, x.data, x.bytes);
    return stage == faulty_stage && answer ? answer(lane, x, y) : absl::OkStatus();
  }
  bool is_free() const {
    return std::none_of(bound_.begin(), bound_.end(),
                        [](const auto& bound) { return bound.load(); });
  }

  Answer answer;
  BarStage faulty_stage = BarStage::kWarm;
  uint32_t refused_lane = UINT32_MAX;
  std::atomic<BarStage> stage{BarStage::kCold};
  std::atomic<int> misuses{0};
  std::array<std::thread::id, kLanes> threads;

 private:
  std::array<std::atomic<bool>, kLanes> bound_{};
};

class LaneBarTest : public testing::Test {
 protected:
  LaneBarTest() {
    bar_.lanes = kLanes;
    bar_.operations = 100;
    bar_.ns_max = 3600 * kNsPerSecond;
  }
  absl::StatusOr<LaneBarOutcome> Run() {
    return RunLaneBar(&model_, inputs_, bar_, [this](BarStage stage) {
      stages_.push_back(stage);
      model_.stage = stage;
    });
  }

  const std::vector<BarTask> tasks_ = {{BarOperator::kLinear, {1, 2, 8}},
                                       {BarOperator::kMlp, {2, 2, 8}},
                                       {BarOperator::kConv, {1, 1, 4}}};
  const BarInputs inputs_{tasks_, kLanes, 1};
  EchoModel model_;
  LaneBar bar_;
  std::vector<BarStage> stages_;
};

TEST_F(LaneBarTest, RightAnswersPassInAllThreeStages) {
  const auto outcome = Run();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  const RunCounts counts = outcome->all();
  EXPECT_EQ(counts.cold, kLanes * tasks_.size());
  EXPECT_EQ(counts.warm, 100u);
  EXPECT_EQ(counts.faults() + counts.other_bits, 0u);
  EXPECT_EQ(outcome->first_fault, "");
  EXPECT_EQ(stages_, (std::vector<BarStage>{BarStage::kCold, BarStage::kAlone, BarStage::kWarm}));
}

TEST_F(LaneBarTest, EachTaskHasItsTurn) {
  bar_.operations = kLanes * tasks_.size() * 5;
  const auto outcome = Run();
  ASSERT_TRUE(outcome.ok());
  for (const RunCounts& counts : outcome->tasks) EXPECT_EQ(counts.warm, kLanes * 5u);
}

TEST_F(LaneBarTest, TheAnswerToAnotherLaneIsWrong) {
  std::atomic<int> runs{0};
  model_.answer = [&](uint32_t lane, const InputTensor& x, float* y) {
    if (++runs != 50) return absl::OkStatus();
    for (size_t task = 0; task < tasks_.size(); ++task) {
      if (inputs_.Of(lane, task)[1].data != x.data) continue;
      std::memcpy(y, inputs_.Of((lane + 1) % kLanes, task)[1].data, x.bytes);
    }
    return absl::OkStatus();
  };
  const auto outcome = Run();
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->all().wrong, 1u);
  EXPECT_THAT(outcome->first_fault, HasSubstr("warm"));
  EXPECT_THAT(outcome->first_fault, HasSubstr("another answer than alone"));
}

TEST_F(LaneBarTest, AWrongAnswerOfTheColdStageIsFoundAfterwards) {
  model_.faulty_stage = BarStage::kCold;
  model_.answer = [&](uint32_t lane, const InputTensor&, float* y) {
    if (lane == 2) y[0] += 1;
    return absl::OkStatus();
  };
  const auto outcome = Run();
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->all().wrong, tasks_.size());
  EXPECT_THAT(outcome->first_fault, HasSubstr("lane 2, cold, linear 1x2x8"));
}

TEST_F(LaneBarTest, OtherBitsOfOneNumberAreCountedAndPass) {
  model_.answer = [&](uint32_t, const InputTensor&, float* y) {
    y[1] += 1e-5F;
    return absl::OkStatus();
  };
  const auto outcome = Run();
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->all().other_bits, 100u);
  EXPECT_EQ(outcome->all().faults(), 0u);
}

TEST_F(LaneBarTest, ARunThatFailsIsAFault) {
  model_.answer = [&](uint32_t lane, const InputTensor&, float*) {
    return lane == 1 ? absl::InternalError("the driver") : absl::OkStatus();
  };
  bar_.faults_max = 1000;
  const auto outcome = Run();
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->all().failed, 25u);
  EXPECT_EQ(outcome->all().wrong, 0u);
  EXPECT_THAT(outcome->first_fault, HasSubstr("the driver"));
}

TEST_F(LaneBarTest, StopsAfterSoManyFaults) {
  model_.answer = [&](uint32_t, const InputTensor&, float* y) {
    y[0] += 1;
    return absl::OkStatus();
  };
  bar_.operations = 1'000'000;
  bar_.faults_max = 10;
  const auto outcome = Run();
  ASSERT_TRUE(outcome.ok());
  EXPECT_GE(outcome->all().wrong, 10u);
  EXPECT_LT(outcome->all().wrong, 10u + kLanes);
  EXPECT_EQ(outcome->all().warm, outcome->all().wrong);
}

TEST_F(LaneBarTest, EndsWhenTheTimeIsOver) {
  FakeClock clock;
  model_.answer = [&](uint32_t, const InputTensor&, float*) {
    clock.Advance(kNsPerMs);
    return absl::OkStatus();
  };
  bar_.clock = &clock;
  bar_.operations = 0;
  bar_.ns_max = 50 * kNsPerMs;
  const auto outcome = Run();
  ASSERT_TRUE(outcome.ok());
  EXPECT_GE(outcome->all().warm, 50u);
  EXPECT_GE(outcome->seconds, 0.05);
  EXPECT_GT(outcome->rate, 0);
}

TEST_F(LaneBarTest, ATaskThatFailsAloneIsAnErrorAndNoFault) {
  model_.faulty_stage = BarStage::kAlone;
  model_.answer = [&](uint32_t, const InputTensor& x, float*) {
    return x.dims[0] == 2 ? absl::InternalError("no kernel") : absl::OkStatus();
  };
  const auto outcome = Run();
  EXPECT_EQ(outcome.status().message(), "mlp 2x2x8 fails alone: no kernel");
  EXPECT_EQ(stages_.back(), BarStage::kAlone);
  EXPECT_TRUE(model_.is_free());
}

TEST_F(LaneBarTest, ALaneWithoutAStreamEndsItAndLeavesNoneBound) {
  model_.refused_lane = 2;
  EXPECT_TRUE(absl::IsResourceExhausted(Run().status()));
  EXPECT_TRUE(model_.is_free());
  EXPECT_EQ(model_.misuses, 0);
}

TEST_F(LaneBarTest, ALaneHasOneThreadOfItsOwn) {
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(model_.misuses, 0);
  EXPECT_TRUE(model_.is_free());
  std::set<std::thread::id> threads(model_.threads.begin(), model_.threads.end());
  threads.insert(std::this_thread::get_id());
  EXPECT_EQ(threads.size(), kLanes + 1);
}

TEST_F(LaneBarTest, LaneZeroRunsOnTheCallingThreadWhereItIsToldTo) {
  bar_.lane_on_main_thread = true;
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(model_.threads[0], std::this_thread::get_id());
  EXPECT_EQ(model_.misuses, 0);
}

TEST_F(LaneBarTest, TheRandomOrderIsThatOfTheSeed) {
  bar_.has_random_order = true;
  const auto counts_of = [&](uint64_t seed) {
    bar_.seed = seed;
    std::vector<uint64_t> counts;
    const auto outcome = Run();
    for (const RunCounts& task : outcome->tasks) counts.push_back(task.warm);
    return counts;
  };
  const std::vector<uint64_t> first = counts_of(7);
  EXPECT_EQ(first, counts_of(7));
  EXPECT_NE(first, counts_of(8));
}

TEST(BarInputs, DifferFromLaneToLaneAndAreThoseOfTheSeed) {
  const std::vector<BarTask> tasks = {{BarOperator::kLinear, {1, 3, 5}},
                                      {BarOperator::kMlp, {1, 1, 1}}};
  const BarInputs inputs(tasks, 2, 1);
  const BarInputs again(tasks, 2, 1);
  const auto equal = [](const InputTensor& a, const InputTensor& b) {
    return a.bytes == b.bytes && std::memcmp(a.data, b.data, a.bytes) == 0;
  };
  for (size_t task = 0; task < 2; ++task) {
    EXPECT_FALSE(equal(inputs.Of(0, task)[1], inputs.Of(1, task)[1]));
    EXPECT_TRUE(equal(inputs.Of(1, task)[1], again.Of(1, task)[1]));
    EXPECT_EQ(*static_cast<const int64_t*>(inputs.Of(1, task)[0].data), static_cast<int64_t>(task));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(inputs.Of(1, task)[1].data) % 64, 0u);
  }
  EXPECT_EQ(inputs.Of(0, 0)[1].bytes, 60u);
}

}  // namespace
}  // namespace mpsd::load
