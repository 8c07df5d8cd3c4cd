#include "worker/model/synthetic/synthetic_encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/worker/model/collecting_sink.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class SyntheticEncoderTest : public testing::Test {
 protected:
  SyntheticEncoderTest() {
    order_.model = "e";
    order_.format = ModelFormat::kSynthetic;
    order_.spec.max_batch_size = 4;
    order_.spec.inputs = {{"input_ids", DataType::kInt64, {-1}},
                          {"attention_mask", DataType::kInt64, {-1}}};
    order_.spec.outputs = {{"scores", DataType::kFp32, {2}}};
  }

  absl::Status LoadEncoder() {
    SyntheticEffects effects;
    effects.sleep = [this](int64_t ns) { slept_ns_ += ns; };
    absl::StatusOr<std::unique_ptr<Model>> model = SyntheticEncoder::Load(order_, effects);
    if (model.ok()) model_ = *std::move(model);
    return model.status();
  }

  std::vector<float> Encode(const std::vector<int64_t>& ids, const std::vector<int64_t>& mask,
                            int64_t rows) {
    const auto length = static_cast<int64_t>(ids.size()) / rows;
    const std::vector<InputTensor> inputs = {InputOf(ids, DataType::kInt64, {rows, length}),
                                             InputOf(mask, DataType::kInt64, {rows, length})};
    CollectingSink sink;
    EXPECT_TRUE(model_->Run(0, inputs, static_cast<uint32_t>(rows), &sink).ok());
    return sink.Elements<float>(0);
  }

  LoadOrder order_;
  std::unique_ptr<Model> model_;
  int64_t slept_ns_ = 0;
};

TEST_F(SyntheticEncoderTest, NumbersAreThoseOfTheTokensThatCount) {
  ASSERT_TRUE(LoadEncoder().ok());
  // 5 * 3 % 17 - 8 = 7, 5 * 4 % 17 - 8 = -5; 7: -4, 3.
  EXPECT_THAT(Encode({5, 7}, {1, 1}, 1), ElementsAre(3, -2));
  EXPECT_THAT(Encode({5, 7, 99, 5, 99, 99}, {1, 1, 0, 1, 0, 0}, 2), ElementsAre(3, -2, 7, -5));
}

TEST_F(SyntheticEncoderTest, GivesAnEmbeddingWhereNothingElseIsSaid) {
  order_.spec.outputs.clear();
  order_.parameters = {{"delay", "5ns"}};
  ASSERT_TRUE(LoadEncoder().ok());
  EXPECT_EQ(model_->spec().outputs[0].name, "sentence_embedding");
  EXPECT_EQ(Encode({5}, {1}, 1).size(), 8u);
  EXPECT_EQ(slept_ns_, 5);
}

TEST_F(SyntheticEncoderTest, RefusesOtherTensors) {
  order_.spec.outputs[0].dims = {-1};
  EXPECT_THAT(std::string(LoadEncoder().message()), HasSubstr("must be a row of FP32"));
  order_.spec.outputs[0].dims = {2};
  order_.spec.inputs[0].name = "ids";
  EXPECT_THAT(std::string(LoadEncoder().message()), HasSubstr("input_ids:INT64[-1]"));
  order_.spec.inputs[0].name = "input_ids";
  order_.spec.max_batch_size = 0;
  EXPECT_EQ(LoadEncoder().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace mpsd
