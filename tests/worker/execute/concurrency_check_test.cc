#include "worker/execute/concurrency_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_model.h"
#include "worker/execute/trial_bound.h"

namespace mpsd {
namespace {

using testing::HasSubstr;

ModelSpec Rows() {
  ModelSpec spec;
  spec.max_batch_size = 4;
  spec.inputs = {{"x", DataType::kFp32, {8}}};
  spec.outputs = {{"y", DataType::kFp32, {8}}};
  return spec;
}

TEST(ConcurrencyCheck, PassesAModelWithoutSharedState) {
  FakeModel model(Rows(), EchoInputs);
  EXPECT_TRUE(CheckConcurrency(&model, 4).ok());
}

TEST(ConcurrencyCheck, HasNothingToCompareWithOneLane) {
  FakeModel model(Rows(), [](auto, uint32_t, OutputSink*) { return absl::InternalError("no"); });
  EXPECT_TRUE(CheckConcurrency(&model, 1).ok());
}

// Counts the bound lanes, and fails when an unbound lane runs.
class BindingModel final : public Model {
 public:
  BindingModel() : Model(Rows()) {}

  absl::Status BindLane(uint32_t lane) override {
    if (lane == refused_lane) return absl::ResourceExhaustedError("no stream");
    if (bound_[lane].exchange(true)) ++faults;
    return absl::OkStatus();
  }
  void ReleaseLane(uint32_t lane) override {
    if (!bound_[lane].exchange(false)) ++faults;
  }
  absl::Status Run(uint32_t lane, absl::Span<const InputTensor> inputs, uint32_t rows,
                   OutputSink* sink) override {
    if (!bound_[lane]) ++faults;
    return EchoInputs(inputs, rows, sink);
  }
  int64_t bound() const { return std::count(bound_.begin(), bound_.end(), true); }

  uint32_t refused_lane = UINT32_MAX;
  std::atomic<int> faults{0};

 private:
  std::array<std::atomic<bool>, 4> bound_{};
};

TEST(ConcurrencyCheck, LeavesNoLaneBound) {
  BindingModel model;
  EXPECT_TRUE(CheckConcurrency(&model, 4).ok());
  EXPECT_EQ(model.bound(), 0);
  EXPECT_EQ(model.faults, 0);
  model.refused_lane = 2;
  EXPECT_TRUE(absl::IsResourceExhausted(CheckConcurrency(&model, 4)));
  EXPECT_EQ(model.bound(), 0);
  EXPECT_EQ(model.faults, 0);
}

// Keeps the threads and shapes of its runs.
class NotingModel {
 public:
  explicit NotingModel(ModelSpec spec) : model_(std::move(spec), Echo()) {}
  Model* model() { return &model_; }

  std::mutex mu;
  std::vector<Dims> dims;
  std::set<std::thread::id> threads;
  FakeClock clock;
  int64_t run_ns = 0;
  int64_t element_ns = 0;  // besides

 private:
  FakeModel::RunFunction Echo() {
    return [this](absl::Span<const InputTensor> inputs, uint32_t rows, OutputSink* sink) {
      const std::lock_guard<std::mutex> lock(mu);
      dims.push_back(inputs[0].dims);
      threads.insert(std::this_thread::get_id());
      clock.Advance(run_ns + element_ns * inputs[0].dims[0] * inputs[0].dims[1]);
      return EchoInputs(inputs, rows, sink);
    };
  }

  FakeModel model_;
};

// One run in the cold, two alone, and then the rounds, of each lane.
constexpr size_t RunsOf(size_t lanes, int rounds) { return lanes * (1 + 2 + rounds); }

TEST(ConcurrencyCheck, RunsAsManyRoundsAsItsProbabilityNeeds) {
  EXPECT_LT(std::pow(0.9, kConcurrencyRounds), 0.01);
  EXPECT_NEAR(std::pow(0.9, kFewestConcurrencyRounds), 0.43, 0.005);
  NotingModel noting(Rows());
  EXPECT_TRUE(CheckConcurrency(noting.model(), 3, {.clock = &noting.clock}).ok());
  EXPECT_EQ(noting.dims.size(), RunsOf(3, kConcurrencyRounds));
}

TEST(ConcurrencyCheck, ASlowModelRunsTheFewestRounds) {
  NotingModel noting(Rows());
  noting.run_ns = kConcurrencyRoundsNs;
  EXPECT_TRUE(CheckConcurrency(noting.model(), 2, {.clock = &noting.clock}).ok());
  EXPECT_EQ(noting.dims.size(), RunsOf(2, kFewestConcurrencyRounds));
}

TEST(ConcurrencyCheck, ComparesTheSmallestAndTheLargestShape) {
  ModelSpec spec = Rows();
  spec.max_batch_size = 16;
  spec.inputs[0].dims = {-1};
  spec.pad = {{"x", 0, {8, 32}, 0, {}}};
  NotingModel noting(spec);
  EXPECT_TRUE(CheckConcurrency(noting.model(), 2, {.clock = &noting.clock}).ok());
  EXPECT_EQ(noting.dims.size(), 2 * RunsOf(2, kConcurrencyRounds) + 2) << "two tell the time";
  EXPECT_EQ(noting.dims.front(), (Dims{4, 8}));
  EXPECT_EQ(noting.dims.back(), (Dims{16, 32}));
}

TEST(ConcurrencyCheck, TheLargestShapeFitsItsBytes) {
  ModelSpec spec = Rows();
  spec.max_batch_size = 1024;
  spec.inputs[0].dims = {1 << 18};  // 1 MiB a row
  NotingModel noting(spec);
  noting.run_ns = kComparedRunNs / 8;
  EXPECT_TRUE(CheckConcurrency(noting.model(), 2, {.clock = &noting.clock}).ok());
  EXPECT_EQ(noting.dims.back(), (Dims{16, 1 << 18}));
}

// The second shape is the largest that a lane runs in time.
TEST(ConcurrencyCheck, ASlowModelIsComparedAtSmallerShapes) {
  ModelSpec spec = Rows();
  spec.max_batch_size = 16;
  spec.inputs[0].dims = {-1};
  spec.pad = {{"x", 0, {8, 32, 128}, 0, {}}};
  const auto largest = [&spec](int64_t element_ns) {
    NotingModel noting(spec);
    noting.element_ns = element_ns;
    EXPECT_TRUE(CheckConcurrency(noting.model(), 2, {.clock = &noting.clock}).ok());
    return noting.dims.back();
  };
  const int64_t limit = kComparedRunNs / (4 * 128);  // by which four rows of 128 just fit
  EXPECT_EQ(largest(limit / 8), (Dims{16, 128}));
  EXPECT_EQ(largest(limit / 2), (Dims{8, 128}));
  EXPECT_EQ(largest(limit), (Dims{4, 128}));
  EXPECT_EQ(largest(limit * 2), (Dims{4, 32}));
  EXPECT_EQ(largest(limit * 100), (Dims{4, 8})) << "which is the smallest shape, and enough";
}

TEST(ConcurrencyCheck, ALaneOfTheMainThreadIsTriedThere) {
  NotingModel elsewhere(Rows());
  EXPECT_TRUE(CheckConcurrency(elsewhere.model(), 2, {.clock = &elsewhere.clock}).ok());
  EXPECT_EQ(elsewhere.threads.count(std::this_thread::get_id()), 0u);
  NotingModel here(Rows());
  EXPECT_TRUE(CheckConcurrency(here.model(), 2, {true, &here.clock}).ok());
  EXPECT_EQ(here.threads.count(std::this_thread::get_id()), 1u);
}

// A race between compilations shows in the first runs alone.
TEST(ConcurrencyCheck, CatchesAFaultOfTheFirstRunsInCompany) {
  std::atomic<int> calls{0};
  FakeModel model(Rows(),
                  [&](absl::Span<const InputTensor> inputs, uint32_t rows, OutputSink* sink) {
                    if (calls++ == 1) return absl::InternalError("compiled twice");
                    return EchoInputs(inputs, rows, sink);
                  });
  const absl::Status status = CheckConcurrency(&model, 2);
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("compiled twice"));
}

// Behaves like a module that keeps its intermediate results in one buffer.
TEST(ConcurrencyCheck, CatchesSharedScratchState) {
  std::array<std::atomic<float>, 32> scratch{};
  FakeModel model(Rows(), [&](absl::Span<const InputTensor> inputs, uint32_t, OutputSink* sink) {
    const auto* rows = static_cast<const float*>(inputs[0].data);
    for (size_t i = 0; i < 32; ++i) scratch[i] = rows[i];
    for (int i = 0; i < 50; ++i) std::this_thread::yield();
    auto* output = static_cast<float*>(sink->Add(inputs[0].datatype, inputs[0].dims));
    for (size_t i = 0; i < 32; ++i) output[i] = scratch[i];
    return absl::OkStatus();
  });
  const absl::Status status = CheckConcurrency(&model, 4);
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("other answers than alone"));
}

TEST(ConcurrencyCheck, CatchesAModelThatFailsOnlyInCompany) {
  std::atomic<int> inside{0};
  FakeModel model(Rows(),
                  [&](absl::Span<const InputTensor> inputs, uint32_t rows, OutputSink* sink) {
                    const bool company = ++inside > 1;
                    for (int i = 0; i < 50; ++i) std::this_thread::yield();
                    const bool joined = inside > 1;
                    --inside;
                    if (company || joined) return absl::InternalError("two at once");
                    return EchoInputs(inputs, rows, sink);
                  });
  EXPECT_EQ(CheckConcurrency(&model, 4).code(), absl::StatusCode::kAborted);
}

TEST(ConcurrencyCheck, ForgivesRounding) {
  std::atomic<int> calls{0};
  FakeModel model(Rows(), [&](absl::Span<const InputTensor> inputs, uint32_t, OutputSink* sink) {
    auto* output = static_cast<float*>(sink->Add(inputs[0].datatype, inputs[0].dims));
    std::memcpy(output, inputs[0].data, inputs[0].bytes);
    if (++calls % 2 == 0) output[3] *= 1.000001F;
    return absl::OkStatus();
  });
  EXPECT_TRUE(CheckConcurrency(&model, 2).ok());
}

TEST(ConcurrencyCheck, CannotTellOfAModelThatThrowsDice) {
  std::atomic<int> calls{0};
  FakeModel model(Rows(), [&](absl::Span<const InputTensor> inputs, uint32_t, OutputSink* sink) {
    auto* output = static_cast<float*>(sink->Add(inputs[0].datatype, inputs[0].dims));
    for (int i = 0; i < 32; ++i) output[i] = static_cast<float>(++calls);
    return absl::OkStatus();
  });
  EXPECT_EQ(CheckConcurrency(&model, 2).code(), absl::StatusCode::kUnavailable);
}

TEST(ConcurrencyCheck, CannotTellOfAModelThatRefusesTheInputs) {
  FakeModel model(Rows(), [](auto, uint32_t, OutputSink*) { return absl::InternalError("ids"); });
  EXPECT_EQ(CheckConcurrency(&model, 2).code(), absl::StatusCode::kUnavailable);
}

TEST(ConcurrencyCheck, GivesIndicesOfAnyTable) {
  ModelSpec spec = Rows();
  spec.inputs = {{"ids", DataType::kInt64, {-1}}, {"s", DataType::kBytes, {2}}};
  FakeModel model(spec, [](absl::Span<const InputTensor> inputs, uint32_t rows, OutputSink* sink) {
    EXPECT_EQ(inputs[0].dims, (Dims{4, 2}));
    const auto* ids = static_cast<const int64_t*>(inputs[0].data);
    for (int i = 0; i < 8; ++i) EXPECT_TRUE(ids[i] == 0 || ids[i] == 1) << ids[i];
    EXPECT_EQ(inputs[1].bytes, rows * 2 * sizeof(uint32_t)) << "empty strings";
    return EchoInputs(inputs.subspan(0, 1), rows, sink);
  });
  EXPECT_TRUE(CheckConcurrency(&model, 2).ok());
}

TEST(LanesAfter, OnlyWhatWasNeededMustHavePassed) {
  const absl::Status disturbed = absl::AbortedError("they differ");
  const absl::Status cannot_tell = absl::UnavailableError("it throws dice");
  for (const bool is_needed : {false, true}) {
    EXPECT_EQ(LanesAfter(absl::OkStatus(), 2, is_needed), 2u);
    EXPECT_EQ(LanesAfter(disturbed, 2, is_needed), 1u);
  }
  EXPECT_EQ(LanesAfter(cannot_tell, 2, /*is_needed=*/false), 2u);
  EXPECT_EQ(LanesAfter(cannot_tell, 2, /*is_needed=*/true), 1u);
}

}  // namespace
}  // namespace mpsd
