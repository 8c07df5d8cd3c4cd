#include "server/config/triton/triton_steps.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/config/triton/triton_config.h"

namespace mpsd {
namespace {

constexpr char kTensors[] = R"pb(
  max_batch_size: 4
  input { name: "x" data_type: TYPE_FP32 dims: 2 }
  output { name: "y" data_type: TYPE_FP32 dims: 2 }
)pb";
constexpr char kSteps[] = R"pb(
  ensemble_scheduling {
    step {
      model_name: "a"
      model_version: -1
      input_map { key: "i" value: "x" }
      output_map { key: "o" value: "t" }
    }
    step {
      model_name: "b"
      model_version: 3
      input_map { key: "i" value: "t" }
      output_map { key: "o" value: "y" }
    }
  }
)pb";

class TritonStepsTest : public testing::Test {
 protected:
  TritonStepsTest() { model_.name = "m"; }

  std::string Text(const std::string& text) {
    return std::string(ApplyTritonText(text, &model_, &notes_).message());
  }
  // One step, of whose text `more` is a part.
  std::string Step(const std::string& more) {
    return Text(absl::StrCat(kTensors, "ensemble_scheduling { step { ", more, " } }"));
  }

  ModelConfig model_;
  TritonNotes notes_;
};

TEST_F(TritonStepsTest, TheSameNamesMeanTheSame) {
  ASSERT_EQ(Text(absl::StrCat("platform: 'ensemble'", kTensors, kSteps)), "");
  ASSERT_EQ(model_.steps.size(), 2u);
  EXPECT_EQ(model_.steps[0], (ModelStep{"a", "", {{"i", "x"}}, {{"o", "t"}}}));
  EXPECT_EQ(model_.steps[1], (ModelStep{"b", "3", {{"i", "t"}}, {{"o", "y"}}}));
  EXPECT_EQ(model_.spec.max_batch_size, 4u);
  EXPECT_TRUE(notes_.ignored.empty());
}

TEST_F(TritonStepsTest, AnOverrideKeepsTheStepsThatItDoesNotName) {
  ASSERT_EQ(Text(absl::StrCat(kTensors, kSteps)), "");
  const std::vector<ModelStep> steps = model_.steps;
  EXPECT_EQ(ApplyTritonJson(R"({"max_batch_size": 2})", &model_, &notes_), absl::OkStatus());
  EXPECT_EQ(model_.steps, steps);
  EXPECT_EQ(model_.spec.max_batch_size, 2u);
}

TEST_F(TritonStepsTest, ParametersAndVersionsAreKept) {
  ASSERT_EQ(Text(absl::StrCat(kTensors, kSteps,
                              "parameters { key: 'k' value { string_value: 'v' } } "
                              "version_policy { all {} }")),
            "");
  EXPECT_EQ(model_.parameters.at("k"), "v");
  EXPECT_EQ(notes_.versions.latest, 0u);
}

TEST_F(TritonStepsTest, TheInflightBoundIsNoted) {
  const std::string maps = "input_map { key: 'i' value: 'x' } output_map { key: 'o' value: 'y' }";
  ASSERT_EQ(Text(absl::StrCat(kTensors, "ensemble_scheduling { max_inflight_requests: 2 ",
                              "step { model_name: 'a' ", maps, " } }")),
            "");
  EXPECT_EQ(notes_.ignored, std::vector<std::string>{"ensemble_scheduling.max_inflight_requests"});
}

TEST_F(TritonStepsTest, KeysAboutWorkersAreRefused) {
  for (const auto& [text, key] : std::vector<std::pair<std::string, std::string>>{
           {"backend: 'pytorch'", "backend"},
           {"instance_group { count: 1 }", "instance_group"},
           {"model_warmup { name: 'w' }", "model_warmup"},
           {"response_cache { enable: true }", "response_cache"},
           {"default_model_filename: 'model.pt'", "default_model_filename"}}) {
    EXPECT_EQ(Text(absl::StrCat(kTensors, kSteps, text)),
              absl::StrCat("'", key, "' is not for a model with ensemble_scheduling"));
  }
  EXPECT_EQ(Text(absl::StrCat(kTensors, kSteps, "platform: 'pytorch_libtorch'")),
            "'platform' is 'pytorch_libtorch', and must be 'ensemble' beside ensemble_scheduling");
}

TEST_F(TritonStepsTest, AModelWithAFileHasNoSteps) {
  model_.path = "/m.pt";
  EXPECT_EQ(Text(absl::StrCat(kTensors, kSteps)),
            "'ensemble_scheduling' is for a model without a file");
}

TEST_F(TritonStepsTest, Mistakes) {
  const std::string maps = "input_map { key: 'i' value: 'x' } output_map { key: 'o' value: 'y' }";
  EXPECT_EQ(Step("model_name: 'a' " + maps), "");
  EXPECT_EQ(Step("model_name: 'm' " + maps),
            "'ensemble_scheduling' is wrong: steps[0].model: is the model that has the step");
  EXPECT_EQ(Step("model_name: 'a' model_version: -2 " + maps),
            "'ensemble_scheduling.step.model_version' must be a version, or -1 for any");
  EXPECT_EQ(Step("model_name: 'a' model_namespace: 'n' " + maps),
            "'ensemble_scheduling.step.model_namespace' is not supported");
  EXPECT_EQ(Step("model_name: 'a' output_map { key: 'o' value: 'y' }"),
            "'ensemble_scheduling.step.input_map' must have 1 to 64 members");
  EXPECT_EQ(Step("model_name: 'a' input_map { key: 'i' value: 'x' }"),
            "'ensemble_scheduling.step.output_map' must have 1 to 64 members");
  EXPECT_EQ(Text(absl::StrCat(kTensors, "ensemble_scheduling {}")),
            "'ensemble_scheduling' must have 1 to 32 steps");
}

TEST_F(TritonStepsTest, TensorsMustBeGivenAndPlain) {
  EXPECT_EQ(Text(kSteps), "'input' must be given");
  EXPECT_EQ(Text(absl::StrCat(kSteps, "input { name: 'x' data_type: TYPE_FP32 dims: 2 }")),
            "'output' must be given");
  model_ = ModelConfig();
  model_.name = "m";
  EXPECT_EQ(Text(absl::StrCat(kTensors, kSteps,
                              "input { name: 'w' data_type: TYPE_FP32 dims: 2 optional: true }")),
            "'input.optional' is not for ensemble_scheduling");
}

}  // namespace
}  // namespace mpsd
