#include "worker/execute/concurrency_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string>
#include <thread>

#include "tests/fakes/fake_model.h"

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
  const ModelSpec& spec() const override { return spec_; }
  std::string device() const override { return "cpu"; }
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
  const ModelSpec spec_ = Rows();
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

}  // namespace
}  // namespace mpsd
