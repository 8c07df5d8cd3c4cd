// A model of steps in a config: what it becomes, and each mistake with its line.
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/config/config.h"
#include "tests/server/config/config_files.h"

namespace mpsd {
namespace {

constexpr char kTensors[] =
    "\"inputs\": [{\"name\": \"x\", \"datatype\": \"FP32\", \"shape\": [4]}], "
    "\"outputs\": [{\"name\": \"y\", \"datatype\": \"FP32\", \"shape\": [4]}]";
constexpr char kStep[] =
    "{\"model\": \"a\", \"inputs\": {\"x\": \"x\"}, \"outputs\": {\"OUTPUT0\": \"y\"}}";

// A config whose model "m" has the keys; `keys` begin on line 3. The model "a" is synthetic.
std::string ConfigOf(const std::string& keys, const std::string& more_of_a = "") {
  return absl::StrCat("{\"models\": [{\n\"name\": \"m\",\n", keys,
                      "},\n{\"name\": \"a\", \"format\": \"synthetic\", \"inputs\": [{\"name\": "
                      "\"x\", \"datatype\": \"FP32\", \"shape\": [4]}], \"outputs\": [{\"name\": "
                      "\"OUTPUT0\", \"datatype\": \"FP32\", \"shape\": [4]}]",
                      more_of_a, "}]}");
}

std::string StepsError(const std::string& keys, const std::string& more_of_a = "") {
  return ConfigFiles({"m.pt"}).Error(ConfigOf(keys, more_of_a));
}

// The steps and, on line 4, what is said besides.
std::string ErrorBeside(const std::string& key) {
  return StepsError(absl::StrCat(kTensors, ", \"steps\": [", kStep, "],\n", key));
}

std::string ErrorOfStep(const std::string& step) {
  return StepsError(absl::StrCat(kTensors, ", \"steps\": [\n", step, "]"));
}

TEST(StepsConfig, WhatItBecomes) {
  const ConfigFiles files({});
  const absl::StatusOr<Config> config = ParseConfig(
      ConfigOf(absl::StrCat("\"version\": 3, \"queue\": {\"requests\": 7, \"bytes\": \"1GiB\"}, "
                            "\"parameters\": {\"k\": 1}, ",
                            kTensors, ", \"steps\": [", kStep, "]")),
      files.folder() + "/c.json");
  ASSERT_TRUE(config.ok()) << config.status();
  const ModelConfig& model = config->models[0];
  EXPECT_EQ(model.steps, (std::vector<ModelStep>{{"a", "", {{"x", "x"}}, {{"OUTPUT0", "y"}}}}));
  EXPECT_EQ(model.version, "3");
  EXPECT_EQ(model.queue.requests(), 7u);
  EXPECT_EQ(model.queue_bytes, 1ULL << 30);
  EXPECT_EQ(model.parameters.at("k"), "1");
  EXPECT_EQ(model.spec.inputs[0].name, "x");
  EXPECT_EQ(model.spec.max_batch_size, 0u);
}

TEST(StepsConfig, AStepHasAModelAndTensors) {
  EXPECT_EQ(ErrorOfStep("{\"inputs\": {\"x\": \"x\"}, \"outputs\": {\"OUTPUT0\": \"y\"}}"),
            "c.json:4: models[0].steps[0]: 'model' is missing");
  EXPECT_EQ(ErrorOfStep("{\"model\": \"a\", \"inputs\": {}, \"outputs\": {\"OUTPUT0\": \"y\"}}"),
            "c.json:4: models[0].steps[0].inputs: must have 1 to 64 members");
  EXPECT_EQ(ErrorOfStep("{\"model\": \"a\", \"inputs\": {\"x\": \"x\"}}"),
            "c.json:4: models[0].steps[0]: 'outputs' is missing");
  EXPECT_EQ(
      ErrorOfStep("{\"model\": \"a\", \"inputs\": {\"x\": 1}, \"outputs\": {\"OUTPUT0\": \"y\"}}"),
      "c.json:4: models[0].steps[0].inputs.x: must be the name of a tensor, not a number");
  EXPECT_TRUE(ErrorOfStep("{\"model\": \"\", \"inputs\": {\"x\": \"x\"}, "
                          "\"outputs\": {\"OUTPUT0\": \"y\"}}")
                  .starts_with("c.json:4: models[0].steps[0].model: must be 1 to 128 "));
  EXPECT_EQ(ErrorOfStep("1"), "c.json:4: models[0].steps[0]: must be an object, not a number");
}

TEST(StepsConfig, TheTensorsOfTheWholeMustBeThere) {
  EXPECT_EQ(StepsError(absl::StrCat("\"outputs\": [], \"steps\": [\n", kStep, "]")),
            "c.json:1: models[0]: 'inputs' is missing\n"
            "c.json:3: models[0].outputs: must hold at least one");
  EXPECT_EQ(StepsError(absl::StrCat(kTensors, ", \"steps\": []")),
            "c.json:3: models[0].steps: must hold at least one step");
}

TEST(StepsConfig, KeysAboutWorkersAreRefused) {
  EXPECT_EQ(ErrorBeside("\"path\": \"m.pt\""),
            "c.json:4: models[0].path: is not for a model with steps, which has no workers");
  EXPECT_EQ(ErrorBeside("\"response_cache\": \"tenant\""),
            "c.json:4: models[0].response_cache: is not for a model with steps, which has no "
            "workers");
  EXPECT_EQ(ErrorBeside("\"queue\": {\"timeout\": \"1s\"}"),
            "c.json:4: models[0].queue.timeout: unknown key; the keys here are requests, bytes");
}

TEST(StepsConfig, OptionalInputsAreRefused) {
  EXPECT_EQ(
      StepsError(absl::StrCat("\"inputs\": [{\"name\": \"x\", \"datatype\": \"FP32\", \"shape\": "
                              "[4],\n\"optional\": true}], \"outputs\": [{\"name\": \"y\", "
                              "\"datatype\": \"FP32\", \"shape\": [4]}], \"steps\": [",
                              kStep, "]")),
      "c.json:4: models[0].inputs[0].optional: is not for a model with steps");
}

TEST(StepsConfig, MistakesOfTheGraphHaveTheLineOfTheStep) {
  EXPECT_EQ(ErrorOfStep(absl::StrCat(kStep, ",\n", kStep)),
            "c.json:5: models[0].steps[1].outputs.OUTPUT0: 'y' is made by steps[0] already");
}

TEST(StepsConfig, AMemberThatIsNotThere) {
  EXPECT_EQ(ErrorOfStep("{\"model\": \"b\", \"inputs\": {\"x\": \"x\"}, "
                        "\"outputs\": {\"OUTPUT0\": \"y\"}}"),
            "c.json:4: models[0].steps[0].model: there is no model 'b'");
  EXPECT_EQ(ErrorOfStep("{\"model\": \"a\", \"version\": 2, \"inputs\": {\"x\": \"x\"}, "
                        "\"outputs\": {\"OUTPUT0\": \"y\"}}"),
            "c.json:4: models[0].steps[0].model: there is no model 'a' of that version");
}

TEST(StepsConfig, AMemberThatDoesNotFit) {
  const std::string steps = absl::StrCat(kTensors, ", \"steps\": [\n", kStep, "]");
  EXPECT_EQ(StepsError(steps), "");
  EXPECT_EQ(StepsError(steps, ", \"max_batch_size\": 8"),
            "c.json:3: models[0].outputs[0]: 'y' is made as [-1,4] and read as [4]\n"
            "c.json:4: models[0].steps[0].inputs.x: 'x' is made as [4] and read as [-1,4]");
}

TEST(StepsConfig, WhatOnlyAFileSaysIsNotCompared) {
  const ConfigFiles files({"m.pt"});
  EXPECT_EQ(files.Error(absl::StrCat("{\"models\": [{\"name\": \"m\", ", kTensors, ", \"steps\": [",
                                     kStep, "]}, {\"name\": \"a\", \"path\": \"m.pt\"}]}")),
            "");
}

}  // namespace
}  // namespace mpsd
