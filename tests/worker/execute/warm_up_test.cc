#include "worker/execute/warm_up.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "proto/base/limits.h"
#include "tests/fakes/fake_model.h"
#include "worker/execute/sample_inputs.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The shapes of one run's inputs: "[1,16] [1,2]".
std::string ShapesText(absl::Span<const InputTensor> inputs) {
  std::string text;
  for (const InputTensor& input : inputs) {
    text += (text.empty() ? "" : " ") + ShapeText(input.dims);
  }
  return text;
}

// ids[-1] is padded to 16, 32 or 64; mask[-1,3] is not; at most 8 rows.
ModelSpec PaddedSpec() {
  ModelSpec spec;
  spec.max_batch_size = 8;
  spec.inputs = {{"ids", DataType::kInt64, {-1}}, {"mask", DataType::kBool, {-1, 3}}};
  spec.outputs = {{"vector", DataType::kFp32, {4}}};
  spec.pad = {{"ids", 0, {16, 32, 64}, 0, {}}};
  return spec;
}

class WarmUpTest : public testing::Test {
 protected:
  absl::Status Warm(const ModelSpec& spec, WarmUp warmup, const std::string& device = "cpu") {
    const auto run = [this](absl::Span<const InputTensor> inputs, uint32_t rows, OutputSink* sink) {
      runs_.push_back(ShapesText(inputs));
      rows_.push_back(rows);
      for (const InputTensor& input : inputs) CheckZeros(input);
      return runs_.size() == fail_at_ ? absl::InternalError("no") : EchoInputs(inputs, rows, sink);
    };
    FakeModel model(spec, run, {.device = device});
    return WarmUpLane(&model, 0, warmup).status;
  }

  static void CheckZeros(const InputTensor& input) {
    EXPECT_EQ(input.bytes, TensorBytes(input.datatype, input.dims));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(input.data) % kTensorAlignment, 0u);
    const char* bytes = static_cast<const char*>(input.data);
    EXPECT_TRUE(std::all_of(bytes, bytes + input.bytes, [](char byte) { return byte == 0; }));
  }

  std::vector<std::string> runs_;
  std::vector<uint32_t> rows_;
  size_t fail_at_ = 0;
};

TEST_F(WarmUpTest, OfNoneRunsNothing) {
  EXPECT_TRUE(Warm(PaddedSpec(), WarmUp::kNone, "cuda:0").ok());
  EXPECT_THAT(runs_, IsEmpty());
}

TEST_F(WarmUpTest, OfTheSmallestRunsOneRowOfTheSmallestBucket) {
  EXPECT_TRUE(Warm(PaddedSpec(), WarmUp::kSmallest, "cuda:0").ok());
  EXPECT_THAT(runs_, ElementsAre("[1,16] [1,1,3]"));
  EXPECT_THAT(rows_, ElementsAre(1));
}

TEST_F(WarmUpTest, OfAllRunsEveryBucketAtTheSmallestAndTheLargestBatch) {
  EXPECT_TRUE(Warm(PaddedSpec(), WarmUp::kAll).ok());
  EXPECT_THAT(runs_, ElementsAre("[1,16] [1,1,3]", "[8,16] [8,1,3]", "[1,32] [1,1,3]",
                                 "[8,32] [8,1,3]", "[1,64] [1,1,3]", "[8,64] [8,1,3]"));
  EXPECT_THAT(rows_, ElementsAre(1, 8, 1, 8, 1, 8));
}

TEST_F(WarmUpTest, OfAllHoldsTheShorterListAtItsLargestBucket) {
  ModelSpec spec = PaddedSpec();
  spec.max_batch_size = 1;
  spec.pad.push_back({"mask", 0, {5, 10}, 0, {}});
  EXPECT_TRUE(Warm(spec, WarmUp::kAll).ok());
  EXPECT_THAT(runs_, ElementsAre("[1,16] [1,5,3]", "[1,32] [1,10,3]", "[1,64] [1,10,3]"));
}

TEST_F(WarmUpTest, ByItselfIsTheSmallestOnTheCpu) {
  EXPECT_TRUE(Warm(PaddedSpec(), WarmUp::kAuto, "cpu").ok());
  EXPECT_EQ(runs_.size(), 1u);
}

TEST_F(WarmUpTest, ByItselfIsAllElsewhere) {
  for (const char* device : {"cuda:0", "mps"}) {
    runs_.clear();
    EXPECT_TRUE(Warm(PaddedSpec(), WarmUp::kAuto, device).ok());
    EXPECT_EQ(runs_.size(), 6u) << device;
  }
}

TEST_F(WarmUpTest, OfAModelWithoutBatchesHasNoBatchDim) {
  ModelSpec spec = PaddedSpec();
  spec.max_batch_size = 0;
  EXPECT_TRUE(Warm(spec, WarmUp::kAll).ok());
  EXPECT_THAT(runs_, ElementsAre("[16] [1,3]", "[32] [1,3]", "[64] [1,3]"));
  EXPECT_THAT(rows_, ElementsAre(1, 1, 1));
}

TEST_F(WarmUpTest, TakesFixedDimsAsTheyAre) {
  ModelSpec spec;
  spec.max_batch_size = 4;
  spec.inputs = {{"image", DataType::kFp32, {3, 2, 0}}};
  EXPECT_TRUE(Warm(spec, WarmUp::kAll).ok());
  EXPECT_THAT(runs_, ElementsAre("[1,3,2,0]", "[4,3,2,0]"));
}

TEST_F(WarmUpTest, EndsAtTheFirstFailure) {
  fail_at_ = 3;
  EXPECT_EQ(Warm(PaddedSpec(), WarmUp::kAll), absl::InternalError("no"));
  EXPECT_EQ(runs_.size(), 3u);
}

// Behaves like a model that starts all its copies before it waits for them.
TEST_F(WarmUpTest, KeepsEveryOutputsPlaceUntilTheRunEnds) {
  const auto run = [](auto, uint32_t, OutputSink* sink) {
    constexpr int64_t kBytes[] = {8, 1 << 20, 4 << 20};
    std::vector<void*> outputs;
    for (const int64_t bytes : kBytes) outputs.push_back(sink->Add(DataType::kUint8, {bytes}));
    for (size_t i = 0; i < outputs.size(); ++i) {
      EXPECT_NE(outputs[i], nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(outputs[i]) % kTensorAlignment, 0u);
      std::memset(outputs[i], 1, static_cast<size_t>(kBytes[i]));
    }
    return absl::OkStatus();
  };
  FakeModel model(PaddedSpec(), run);
  EXPECT_TRUE(WarmUpLane(&model, 0, WarmUp::kSmallest).ok());
}

TEST_F(WarmUpTest, StringsAreEmptyOnes) {
  ModelSpec spec;
  spec.max_batch_size = 2;
  spec.inputs = {{"text", DataType::kBytes, {3}}};
  uint64_t bytes = 0;
  FakeModel model(spec, [&bytes](absl::Span<const InputTensor> inputs, uint32_t rows, auto* sink) {
    bytes = inputs[0].bytes;
    return EchoInputs(inputs, rows, sink);
  });
  ASSERT_TRUE(WarmUpLane(&model, 0, WarmUp::kSmallest).ok());
  EXPECT_EQ(bytes, 3 * sizeof(uint32_t));
}

TEST(RunToKeepWarm, RunsOneRowOfTheSmallestBucket) {
  std::vector<std::string> runs;
  FakeModel model(PaddedSpec(), [&runs](auto inputs, uint32_t rows, OutputSink* sink) {
    runs.push_back(ShapesText(inputs));
    return EchoInputs(inputs, rows, sink);
  });
  EXPECT_TRUE(RunToKeepWarm(&model, 0, {}).ok());
  EXPECT_THAT(runs, ElementsAre("[1,16] [1,1,3]"));
}

TEST(CanServeAfter, TheModelsOwnErrorsAlone) {
  EXPECT_TRUE(CanServeAfter({absl::InternalError("it threw")}));
  EXPECT_TRUE(CanServeAfter({absl::InvalidArgumentError("a sample that does not fit")}));
  EXPECT_FALSE(CanServeAfter({absl::DataLossError("the device is lost")}));
  EXPECT_FALSE(CanServeAfter({absl::DataLossError("the device is lost"), /*has_run=*/true}));
}

TEST(CanServeAfter, MemoryThatSufficedForAShape) {
  EXPECT_FALSE(CanServeAfter({absl::ResourceExhaustedError("out of memory")}));
  EXPECT_TRUE(CanServeAfter({absl::ResourceExhaustedError("out of memory"), /*has_run=*/true}));
}

TEST(WarmUpEnd, TellsWhetherAShapeWasRun) {
  uint32_t rows_max = 0;
  FakeModel model(PaddedSpec(), [&](auto inputs, uint32_t rows, OutputSink* sink) {
    return rows > rows_max ? absl::ResourceExhaustedError("out of memory")
                           : EchoInputs(inputs, rows, sink);
  });
  EXPECT_FALSE(WarmUpLane(&model, 0, WarmUp::kAll).has_run);
  rows_max = 1;
  const WarmUpEnd end = WarmUpLane(&model, 0, WarmUp::kAll);
  EXPECT_TRUE(end.has_run);
  EXPECT_TRUE(absl::IsResourceExhausted(end.status));
  rows_max = 8;
  EXPECT_TRUE(WarmUpLane(&model, 0, WarmUp::kAll).ok());
}

// A model of one input text[2] of strings and one x[-1] of floats, at most 4 rows.
ModelSpec SampledSpec() {
  ModelSpec spec;
  spec.max_batch_size = 4;
  spec.inputs = {{"x", DataType::kFp32, {-1}}, {"text", DataType::kBytes, {2}}};
  return spec;
}

WarmUpSample GoodSample() {
  WarmUpSample sample;
  sample.rows = 3;
  sample.runs = 2;
  sample.inputs = {
      {"text", DataType::kBytes, {2}, WarmUpFill::kData, std::string("\1\0\0\0a\2\0\0\0bc", 11)},
      {"x", DataType::kFp32, {5}, WarmUpFill::kRandom, ""}};
  return sample;
}

TEST_F(WarmUpTest, OfSamplesRunsThemInsteadOfZeros) {
  std::vector<std::string> texts;
  std::vector<float> first;
  FakeModel model(SampledSpec(),
                  [&](absl::Span<const InputTensor> inputs, uint32_t rows, OutputSink*) {
                    EXPECT_EQ(rows, 3U);
                    EXPECT_EQ(ShapesText(inputs), "[3,5] [3,2]");
                    texts.emplace_back(static_cast<const char*>(inputs[1].data), inputs[1].bytes);
                    const auto* values = static_cast<const float*>(inputs[0].data);
                    first.assign(values, values + 15);
                    return absl::OkStatus();
                  });
  const std::vector<WarmUpSample> samples = {GoodSample()};
  EXPECT_TRUE(WarmUpLane(&model, 0, WarmUp::kAuto, samples).ok());
  ASSERT_EQ(texts.size(), 2U) << "as often as the sample says";
  const std::string row = samples[0].inputs[0].data;
  EXPECT_EQ(texts[0], row + row + row);
  EXPECT_TRUE(std::all_of(first.begin(), first.end(), [](float v) { return v > 0 && v < 1; }));
  texts.clear();
  EXPECT_TRUE(RunToKeepWarm(&model, 0, samples).ok());
  EXPECT_EQ(texts.size(), 1U);
  texts.clear();
  EXPECT_TRUE(WarmUpLane(&model, 0, WarmUp::kNone, samples).ok());
  EXPECT_TRUE(texts.empty());
}

TEST(SampleInputs, NamesWhatDoesNotFitTheModel) {
  const auto refusal = [](const std::function<void(WarmUpSample*)>& change) {
    WarmUpSample sample = GoodSample();
    change(&sample);
    return std::string(MakeSampleInputs(SampledSpec(), sample).status().message());
  };
  EXPECT_EQ(refusal([](WarmUpSample*) {}), "");
  EXPECT_EQ(refusal([](WarmUpSample* sample) { sample->rows = 5; }),
            "the sample has 5 rows; at most 4 are allowed");
  EXPECT_EQ(refusal([](WarmUpSample* sample) { sample->inputs.pop_back(); }),
            "the sample's input 'x' is missing");
  EXPECT_EQ(refusal([](WarmUpSample* sample) { sample->inputs[1].datatype = DataType::kInt8; }),
            "the sample's input 'x' has another datatype or other dims than the model's");
  EXPECT_EQ(refusal([](WarmUpSample* sample) { sample->inputs[0].data.pop_back(); }),
            "the sample's input 'text' has another number of bytes than its dims and datatype");
  EXPECT_EQ(refusal([](WarmUpSample* sample) { sample->inputs[1].dims = {1LL << 40}; }),
            "the sample's input 'x' is too large");
}

// An index of 0 or 1 is good for nearly every table.
TEST(SampleInputs, RandomIntegersAreSmallAndStringsAreWellFormed) {
  ModelSpec spec;
  spec.inputs = {{"ids", DataType::kInt64, {64}}, {"text", DataType::kBytes, {1}}};
  WarmUpSample sample;
  sample.inputs = {{"ids", DataType::kInt64, {64}, WarmUpFill::kRandom, ""},
                   {"text", DataType::kBytes, {1}, WarmUpFill::kRandom, ""}};
  const auto made = MakeSampleInputs(spec, sample);
  ASSERT_TRUE(made.ok()) << made.status();
  const auto* ids = static_cast<const int64_t*>(made->tensors[0].data);
  EXPECT_TRUE(std::all_of(ids, ids + 64, [](int64_t id) { return id == 0 || id == 1; }));
  uint32_t length = 0;
  std::memcpy(&length, made->tensors[1].data, sizeof(length));
  EXPECT_EQ(made->tensors[1].bytes, sizeof(length) + length);
}

}  // namespace
}  // namespace mpsd
