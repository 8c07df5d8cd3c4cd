#include "worker/model/synthetic/synthetic_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <limits>
#include <utility>

#include "tests/worker/model/collecting_sink.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

// Records the model's sleeps, crashes and hangs instead of doing them.
struct Effects {
  std::vector<int64_t> slept_ns;
  int crashes = 0;
  int hangs = 0;

  SyntheticEffects Functions() {
    return {[this](int64_t ns) { slept_ns.push_back(ns); }, [this] { ++crashes; },
            [this] { ++hangs; }};
  }
};

LoadOrder OrderOf(std::map<std::string, std::string> parameters) {
  LoadOrder order;
  order.model = "null";
  order.format = ModelFormat::kSynthetic;
  order.spec.max_batch_size = 8;
  order.spec.inputs = {{"INPUT0", DataType::kFp32, {2}}};
  order.parameters = std::move(parameters);
  return order;
}

std::string LoadError(const LoadOrder& order) {
  Effects effects;
  const auto model = SyntheticModel::Load(order, effects.Functions());
  return model.ok() ? "it loaded" : std::string(model.status().message());
}

class Synthetic : public testing::Test {
 protected:
  void Load(const LoadOrder& order) {
    absl::StatusOr<std::unique_ptr<Model>> model =
        SyntheticModel::Load(order, effects_.Functions());
    ASSERT_TRUE(model.ok()) << model.status();
    model_ = *std::move(model);
  }

  // Rows of two floats, the first of which come from `firsts`.
  absl::Status RunRows(const std::vector<float>& firsts, uint32_t lane = 0) {
    std::vector<float> rows;
    for (const float first : firsts) rows.insert(rows.end(), {first, 100});
    const auto count = static_cast<int64_t>(firsts.size());
    const InputTensor input = InputOf(rows, DataType::kFp32, {count, 2});
    return model_->Run(lane, {&input, 1}, static_cast<uint32_t>(count), &sink_);
  }

  Effects effects_;
  std::unique_ptr<Model> model_;
  CollectingSink sink_;
};

TEST_F(Synthetic, AnInputThatIsLeftOutIsZeros) {
  LoadOrder order = OrderOf({{"crash_if", "0"}});
  order.spec.inputs[0].optional = true;
  order.spec.inputs.push_back({"INPUT1", DataType::kInt64, {-1, 2}, /*optional=*/true});
  order.spec.inputs.push_back({"INPUT2", DataType::kBytes, {2}, /*optional=*/true});
  Load(order);
  EXPECT_FALSE(model_->spec().outputs[0].optional);
  const std::vector<InputTensor> inputs(3);
  CollectingSink sink;
  ASSERT_TRUE(model_->Run(0, inputs, 3, &sink).ok());
  EXPECT_EQ(sink.outputs()[0].dims, (Dims{3, 2}));
  EXPECT_EQ(sink.Elements<float>(0), std::vector<float>(6, 0));
  EXPECT_EQ(sink.outputs()[1].dims, (Dims{3, 0, 2}));
  EXPECT_EQ(sink.outputs()[2].dims, (Dims{3, 2}));
  EXPECT_EQ(sink.outputs()[2].bytes, std::string(3 * 2 * sizeof(uint32_t), '\0'));
  EXPECT_EQ(effects_.crashes, 0);
}

TEST_F(Synthetic, GivesItsInputsBackInOrder) {
  LoadOrder order = OrderOf({});
  order.spec.inputs.push_back({"INPUT1", DataType::kInt8, {1}});
  Load(order);
  const std::vector<float> floats = {1, 2, 3, std::numeric_limits<float>::infinity()};
  const std::vector<int8_t> bytes = {-5, 6};
  const InputTensor inputs[] = {InputOf(floats, DataType::kFp32, {2, 2}),
                                InputOf(bytes, DataType::kInt8, {2, 1})};
  ASSERT_TRUE(model_->Run(0, inputs, 2, &sink_).ok());
  ASSERT_EQ(sink_.outputs().size(), 2u);
  EXPECT_EQ(sink_.Elements<float>(0), floats);
  EXPECT_EQ(sink_.Elements<int8_t>(1), bytes);
  EXPECT_EQ(sink_.outputs()[1].datatype, DataType::kInt8);
  EXPECT_EQ(sink_.outputs()[1].dims, Dims({2, 1}));
  EXPECT_TRUE(effects_.slept_ns.empty());
}

TEST_F(Synthetic, GoesOnDeclaringOutputsWithoutRoom) {
  Load(OrderOf({}));
  CollectingSink full(/*room=*/false);
  const std::vector<float> row = {1, 2};
  const InputTensor input = InputOf(row, DataType::kFp32, {1, 2});
  EXPECT_TRUE(model_->Run(0, {&input, 1}, 1, &full).ok());
  EXPECT_EQ(full.outputs().size(), 1u);
  EXPECT_EQ(full.Elements<float>(0), (std::vector<float>{0, 0}));
}

TEST_F(Synthetic, NamesOutputsAfterInputs) {
  LoadOrder order = OrderOf({});
  order.spec.inputs.push_back({"mask", DataType::kInt64, {-1}});
  Load(order);
  EXPECT_THAT(model_->spec().outputs, ElementsAre(TensorSpec{"OUTPUT0", DataType::kFp32, {2}},
                                                  TensorSpec{"OUTPUT1", DataType::kInt64, {-1}}));
  EXPECT_EQ(model_->traits().device, "cpu");
}

TEST_F(Synthetic, KeepsOutputsThatMirrorItsInputs) {
  LoadOrder order = OrderOf({});
  order.spec.outputs = {{"same", DataType::kFp32, {2}}};
  Load(order);
  EXPECT_EQ(model_->spec().outputs[0].name, "same");
}

TEST(SyntheticLoad, RefusesOutputsThatDoNotMirrorItsInputs) {
  LoadOrder order = OrderOf({});
  order.spec.outputs = {{"other", DataType::kFp32, {3}}};
  EXPECT_THAT(LoadError(order), HasSubstr("other:FP32[3] must mirror input INPUT0:FP32[2]"));
  order.spec.outputs.clear();
  order.spec.outputs.resize(2);
  EXPECT_THAT(LoadError(order), HasSubstr("1 inputs and so as many outputs, not 2"));
}

TEST(SyntheticLoad, AsksForItsInputs) {
  LoadOrder order = OrderOf({});
  order.spec.inputs.clear();
  EXPECT_THAT(LoadError(order), HasSubstr("--input INPUT0:FP32[-1,16]"));
}

TEST(SyntheticLoad, NamesTheParameterAtFault) {
  EXPECT_THAT(LoadError(OrderOf({{"crash_fi", "1"}})), HasSubstr("did you mean 'crash_if'?"));
  EXPECT_THAT(LoadError(OrderOf({{"delay", "soon"}})), HasSubstr("parameters.delay: 'soon'"));
  EXPECT_THAT(LoadError(OrderOf({{"fail_if", "x"}})), HasSubstr("parameters.fail_if: 'x'"));
  EXPECT_THAT(LoadError(OrderOf({{"fail_at_load", "yes"}})), HasSubstr("'true' or 'false'"));
  for (const char* factor : {"1001", "-1", "1.5", ""}) {
    EXPECT_THAT(LoadError(OrderOf({{"lane_delay_factor", factor}})),
                HasSubstr("must be a whole number, 0 to 1000"))
        << factor;
  }
  EXPECT_EQ(LoadError(OrderOf({{"lane_delay_factor", "1000"}})), "it loaded");
  EXPECT_EQ(LoadError(OrderOf({{"vocab", "vocab.txt"}})), "it loaded");
}

TEST(SyntheticLoad, FailsAtLoadWhenAskedTo) {
  EXPECT_THAT(LoadError(OrderOf({{"fail_at_load", "true"}})), HasSubstr("asked to fail at load"));
  EXPECT_EQ(LoadError(OrderOf({{"fail_at_load", "false"}})), "it loaded");
}

TEST(SyntheticLoad, HasNoWeightsUntold) {
  Effects effects;
  const auto model = SyntheticModel::Load(OrderOf({}), effects.Functions());
  ASSERT_TRUE(model.ok());
  EXPECT_EQ((*model)->weights(), nullptr);
  EXPECT_THAT(LoadError(OrderOf({{"weights", "-1"}})), HasSubstr("a whole number of bytes"));
}

TEST(SyntheticLoad, SharesItsWeightsWithThoseThatHaveTheSame) {
  Effects effects;
  const auto load = [&effects](const char* bytes) {
    return *SyntheticModel::Load(OrderOf({{"weights", bytes}}), effects.Functions());
  };
  const auto first = load("5000");
  const auto second = load("5000");
  const auto larger = load("500000");
  EXPECT_EQ(first->weights()->bytes(), 5000u);
  absl::StatusOr<UniqueFd> memory = first->weights()->Share();
  ASSERT_TRUE(memory.ok()) << memory.status();
  UniqueFd copy(dup(memory->get()));
  EXPECT_TRUE(second->weights()->Use(*std::move(memory)).ok());
  EXPECT_FALSE(larger->weights()->Use(std::move(copy)).ok());
}

TEST_F(Synthetic, CrashesAtLoadAfterTheLoadDelay) {
  Load(OrderOf({{"crash_at_load", "true"}, {"load_delay", "2s"}}));
  EXPECT_EQ(effects_.crashes, 1);
  EXPECT_THAT(effects_.slept_ns, ElementsAre(2'000'000'000));
}

TEST_F(Synthetic, DelaysEachBatchAndRow) {
  Load(OrderOf({{"delay", "1ms"}, {"delay_per_row", "10us"}}));
  ASSERT_TRUE(RunRows({1, 2, 3}).ok());
  EXPECT_THAT(effects_.slept_ns, ElementsAre(1'030'000));
}

TEST_F(Synthetic, DelaysLongerOnLaterLanes) {
  Load(OrderOf({{"delay", "1ms"}, {"delay_per_row", "10us"}, {"lane_delay_factor", "4"}}));
  for (const uint32_t lane : {0, 1, 2}) ASSERT_TRUE(RunRows({1}, lane).ok());
  EXPECT_THAT(effects_.slept_ns, ElementsAre(1'010'000, 4'010'000, 8'010'000));
}

TEST_F(Synthetic, DelaysAlikeOnAllLanesWithoutAFactor) {
  Load(OrderOf({{"delay", "1ms"}}));
  for (const uint32_t lane : {0, 1, 2}) ASSERT_TRUE(RunRows({1}, lane).ok());
  EXPECT_THAT(effects_.slept_ns, ElementsAre(1'000'000, 1'000'000, 1'000'000));
}

TEST_F(Synthetic, SleepsForEverWhereTheDelayIsBeyondAllNumbers) {
  const auto slept_ns = [this](std::map<std::string, std::string> parameters) {
    Load(OrderOf(std::move(parameters)));
    EXPECT_TRUE(RunRows({1, 2}, 31).ok());
    return effects_.slept_ns.back();
  };
  EXPECT_EQ(slept_ns({{"delay", "100000h"}, {"lane_delay_factor", "1000"}}), INT64_MAX);
  EXPECT_EQ(slept_ns({{"delay_per_row", "2000000h"}}), INT64_MAX);
  EXPECT_EQ(slept_ns({{"delay", "2000000h"}, {"delay_per_row", "1000000h"}}), INT64_MAX);
}

TEST_F(Synthetic, FailsTheRowAlone) {
  Load(OrderOf({{"fail_if", "-2.5"}}));
  ASSERT_TRUE(RunRows({1, -2.5, 3}).ok());
  EXPECT_THAT(sink_.failed_rows(), ElementsAre(Pair(1, "asked to fail")));
  EXPECT_EQ(sink_.Elements<float>(0), (std::vector<float>{1, 100, -2.5, 100, 3, 100}));
}

TEST_F(Synthetic, ThrowsForTheWholeBatch) {
  Load(OrderOf({{"throw_if", "3"}}));
  EXPECT_EQ(RunRows({1, 3}), absl::InternalError("PyTorch execute failure: asked to throw"));
  EXPECT_TRUE(sink_.outputs().empty());
  EXPECT_TRUE(RunRows({1, 2}).ok());
}

TEST_F(Synthetic, CrashesAndHangsForItsValueOnly) {
  Load(OrderOf({{"crash_if", "7"}, {"hang_if", "8"}}));
  ASSERT_TRUE(RunRows({1, 100}).ok());
  EXPECT_EQ(effects_.crashes + effects_.hangs, 0);
  ASSERT_TRUE(RunRows({1, 7}).ok());
  EXPECT_EQ(effects_.crashes, 1);
  ASSERT_TRUE(RunRows({8}).ok());
  EXPECT_EQ(effects_.hangs, 1);
}

TEST_F(Synthetic, LooksAtTheOneRowOfAModelWithoutBatchDim) {
  LoadOrder order = OrderOf({{"fail_if", "7"}});
  order.spec.max_batch_size = 0;
  Load(order);
  const std::vector<float> row = {7, 0};
  const InputTensor input = InputOf(row, DataType::kFp32, {2});
  ASSERT_TRUE(model_->Run(0, {&input, 1}, 1, &sink_).ok());
  EXPECT_THAT(sink_.failed_rows(), ElementsAre(Pair(0, "asked to fail")));
}

TEST_F(Synthetic, TakesRowsOfNoElements) {
  LoadOrder order = OrderOf({{"fail_if", "0"}});
  order.spec.inputs[0].dims = {-1};
  Load(order);
  const InputTensor input = {nullptr, 0, DataType::kFp32, {2, 0}};
  ASSERT_TRUE(model_->Run(0, {&input, 1}, 2, &sink_).ok());
  EXPECT_TRUE(sink_.failed_rows().empty());
  EXPECT_EQ(sink_.outputs().size(), 1u);
}

// The bits of minus two in each datatype that has it, and of one in the others.
struct FirstElement {
  DataType datatype;
  uint64_t bits;
  const char* value;
};

class SyntheticDatatype : public testing::TestWithParam<FirstElement> {};

TEST_P(SyntheticDatatype, ComparesTheValueAndNotTheBits) {
  LoadOrder order = OrderOf({{"fail_if", GetParam().value}});
  order.spec.inputs = {{"INPUT0", GetParam().datatype, {}}};
  Effects effects;
  const auto model = SyntheticModel::Load(order, effects.Functions());
  ASSERT_TRUE(model.ok()) << model.status();
  const InputTensor input = {
      &GetParam().bits, ElementBytes(GetParam().datatype), GetParam().datatype, {1}};
  CollectingSink sink;
  ASSERT_TRUE((*model)->Run(0, {&input, 1}, 1, &sink).ok());
  EXPECT_EQ(sink.failed_rows().size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(
    All, SyntheticDatatype,
    testing::Values(
        FirstElement{DataType::kBool, 1, "1"}, FirstElement{DataType::kUint8, 200, "200"},
        FirstElement{DataType::kUint16, 65535, "65535"},
        FirstElement{DataType::kUint32, 0xFFFFFFFF, "4294967295"},
        FirstElement{DataType::kUint64, 1ULL << 40, "1099511627776"},
        FirstElement{DataType::kInt8, 0xFE, "-2"}, FirstElement{DataType::kInt16, 0xFFFE, "-2"},
        FirstElement{DataType::kInt32, 0xFFFFFFFE, "-2"},
        FirstElement{DataType::kInt64, ~1ULL, "-2"}, FirstElement{DataType::kFp16, 0xC000, "-2"},
        FirstElement{DataType::kFp16, 0x3555, "0.333251953125"},
        FirstElement{DataType::kFp16, 0x0001, "5.9604644775390625e-8"},
        FirstElement{DataType::kFp32, 0xC0000000, "-2"},
        FirstElement{DataType::kFp64, 0xC000000000000000, "-2"},
        FirstElement{DataType::kBf16, 0xC000, "-2"}),
    [](const testing::TestParamInfo<FirstElement>& test) {
      return std::string(DataTypeName(test.param.datatype)) + "_" + std::to_string(test.index);
    });

TEST(SyntheticDeathTest, TheRealCrashEndsTheProcess) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_DEATH(SyntheticEffects::Real().crash(), "");
}

TEST_F(Synthetic, GivesStringsBack) {
  LoadOrder order = OrderOf({{"fail_if", "1"}});
  order.spec.inputs = {{"INPUT0", DataType::kBytes, {1}}};
  Load(order);
  const std::string bytes("\1\0\0\0a\0\0\0\0", 9);
  const InputTensor input = {bytes.data(), bytes.size(), DataType::kBytes, {2, 1}};
  ASSERT_TRUE(model_->Run(0, {&input, 1}, 2, &sink_).ok());
  ASSERT_EQ(sink_.outputs().size(), 1u);
  EXPECT_EQ(sink_.outputs()[0].datatype, DataType::kBytes);
  EXPECT_EQ(sink_.outputs()[0].dims, (Dims{2, 1}));
  EXPECT_EQ(sink_.outputs()[0].bytes, bytes);
  EXPECT_TRUE(sink_.failed_rows().empty());
}

}  // namespace
}  // namespace mpsd
