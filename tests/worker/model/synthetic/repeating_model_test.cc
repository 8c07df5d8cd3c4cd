#include "worker/model/synthetic/repeating_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "tests/worker/model/collecting_sink.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class Repeating : public testing::Test {
 protected:
  Repeating() {
    order_.model = "r";
    order_.format = ModelFormat::kSynthetic;
    order_.spec.decoupled = true;
  }

  absl::Status Load() {
    SyntheticEffects effects;
    effects.sleep = [this](int64_t ns) { slept_ns_.push_back(ns); };
    effects.crash = [this] { ++crashes_; };
    effects.hang = [this] { ++hangs_; };
    absl::StatusOr<std::unique_ptr<Model>> model = RepeatingModel::Load(order_, effects);
    if (model.ok()) model_ = *std::move(model);
    return model.status();
  }

  // 1 when there is an answer of that index, 0 when there is none; 2 after an error, which is in
  // `error_`.
  int Answer(uint32_t index, uint32_t lane = 0) {
    const auto count = static_cast<int64_t>(in_.size());
    const std::vector<InputTensor> inputs = {
        InputOf(in_, DataType::kInt32, {count}),
        InputOf(delay_ms_, DataType::kUint32, {static_cast<int64_t>(delay_ms_.size())}),
        InputOf(wait_ms_, DataType::kUint32, {1})};
    sink_ = std::make_unique<CollectingSink>();
    const absl::StatusOr<bool> answered =
        model_->answers()->Answer(lane, inputs, index, sink_.get());
    error_ = std::string(answered.status().message());
    return answered.ok() ? *answered : 2;
  }

  LoadOrder order_;
  std::unique_ptr<Model> model_;
  std::vector<int32_t> in_ = {-7, 8, 9};
  std::vector<uint32_t> delay_ms_ = {0, 5, 0};
  std::vector<uint32_t> wait_ms_ = {0};
  std::vector<int64_t> slept_ns_;
  int crashes_ = 0;
  int hangs_ = 0;
  std::unique_ptr<CollectingSink> sink_;
  std::string error_;
};

TEST_F(Repeating, SaysWhatItTakesAndGives) {
  ASSERT_TRUE(Load().ok());
  EXPECT_TRUE(model_->spec().decoupled);
  ASSERT_EQ(model_->spec().inputs.size(), 3u);
  EXPECT_EQ(TensorText(model_->spec().inputs[1]), "DELAY:UINT32[-1]");
  ASSERT_EQ(model_->spec().outputs.size(), 2u);
  order_.spec = model_->spec();
  EXPECT_TRUE(Load().ok());
}

TEST_F(Repeating, TakesNothingElse) {
  order_.spec.inputs = {{"IN", DataType::kInt64, {-1}}};
  EXPECT_THAT(std::string(Load().message()),
              HasSubstr("has IN:INT32[-1] DELAY:UINT32[-1] WAIT:UINT32[1]"));
  order_.spec.inputs.clear();
  order_.spec.max_batch_size = 8;
  EXPECT_THAT(std::string(Load().message()), HasSubstr("max_batch_size is 0"));
  order_.spec.max_batch_size = 0;
  order_.spec.decoupled = false;
  EXPECT_THAT(std::string(Load().message()), HasSubstr("a model that repeats is decoupled"));
}

TEST_F(Repeating, MayHaveOtherNames) {
  order_.spec.inputs = {{"TOKENS", DataType::kInt32, {-1}},
                        {"PAUSES", DataType::kUint32, {-1}},
                        {"LAST", DataType::kUint32, {1}}};
  order_.spec.outputs = {{"TOKEN", DataType::kInt32, {1}}, {"PLACE", DataType::kUint32, {1}}};
  ASSERT_TRUE(Load().ok());
  EXPECT_EQ(model_->spec().outputs[0].name, "TOKEN");
  ASSERT_EQ(Answer(1), 1);
  EXPECT_THAT(sink_->Elements<int32_t>(0), ElementsAre(8));
  delay_ms_.pop_back();
  EXPECT_EQ(Answer(0), 2);
  EXPECT_EQ(error_, "PyTorch execute failure: TOKENS and PAUSES must have as many elements");
  order_.spec.inputs[2].optional = true;
  EXPECT_FALSE(Load().ok());
}

TEST_F(Repeating, AnswersOnceForEachElement) {
  ASSERT_TRUE(Load().ok());
  for (uint32_t i = 0; i < 3; ++i) {
    ASSERT_EQ(Answer(i), 1);
    EXPECT_THAT(sink_->Elements<int32_t>(0), ElementsAre(in_[i]));
    EXPECT_THAT(sink_->Elements<uint32_t>(1), ElementsAre(i));
  }
  EXPECT_EQ(Answer(3), 0);
  EXPECT_TRUE(sink_->outputs().empty());
  in_.clear();
  delay_ms_.clear();
  EXPECT_EQ(Answer(0), 0);
}

TEST_F(Repeating, TakesItsTimeUpToABound) {
  ASSERT_TRUE(Load().ok());
  EXPECT_EQ(Answer(1), 1);
  delay_ms_[2] = 0xffff'ffff;
  EXPECT_EQ(Answer(2), 1);
  wait_ms_[0] = 20;
  EXPECT_EQ(Answer(3), 0);
  EXPECT_THAT(slept_ns_, ElementsAre(5 * kNsPerMs, 10 * kNsPerSecond, 20 * kNsPerMs));
}

TEST_F(Repeating, TakesItsDelayForEachAnswer) {
  order_.parameters = {{"delay", "1ms"}, {"delay_per_row", "10us"}, {"lane_delay_factor", "3"}};
  ASSERT_TRUE(Load().ok());
  EXPECT_EQ(Answer(0), 1);
  EXPECT_EQ(Answer(2, /*lane=*/2), 1);
  EXPECT_EQ(Answer(3), 0);
  EXPECT_THAT(slept_ns_, ElementsAre(1'010'000, 6'010'000));
}

TEST_F(Repeating, RefusesDelaysThatDoNotFit) {
  ASSERT_TRUE(Load().ok());
  delay_ms_.pop_back();
  EXPECT_EQ(Answer(0), 2);
  EXPECT_EQ(error_, "PyTorch execute failure: IN and DELAY must have as many elements");
}

TEST_F(Repeating, GivesAsManyAnswersAsARequestMayHave) {
  ASSERT_TRUE(Load().ok());
  in_.assign(kMaxAnswers, 1);
  delay_ms_.assign(kMaxAnswers, 0);
  EXPECT_EQ(Answer(kMaxAnswers - 1), 1);
  EXPECT_EQ(Answer(kMaxAnswers), 0);
  in_.push_back(1);
  delay_ms_.push_back(0);
  EXPECT_EQ(Answer(0), 2);
  EXPECT_THAT(error_, HasSubstr("IN has more than 65536 elements"));
}

TEST_F(Repeating, FailsAtTheElementThatItWasToldOf) {
  order_.parameters = {{"throw_if", "-7"}, {"crash_if", "8"}, {"hang_if", "9"}, {"fail_if", "8"}};
  ASSERT_TRUE(Load().ok());
  EXPECT_EQ(Answer(0), 2);
  EXPECT_EQ(error_, "PyTorch execute failure: asked to throw");
  EXPECT_EQ(crashes_ + hangs_, 0);
  EXPECT_EQ(Answer(1), 1);
  EXPECT_EQ(crashes_, 1);
  EXPECT_THAT(sink_->failed_rows(), ElementsAre(Pair(0u, "asked to fail")));
  EXPECT_EQ(Answer(2), 1);
  EXPECT_EQ(hangs_, 1);
}

}  // namespace
}  // namespace mpsd
