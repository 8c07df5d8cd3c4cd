#include "server/request/graph/step_graph.h"

#include <gmock/gmock.h>

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TensorSpec Named(const char* name) { return {name, DataType::kFp32, {16}}; }

ModelSpec SpecOf(const std::vector<const char*>& inputs, const std::vector<const char*>& outputs) {
  ModelSpec spec;
  for (const char* name : inputs) spec.inputs.push_back(Named(name));
  for (const char* name : outputs) spec.outputs.push_back(Named(name));
  return spec;
}

// A step of a model "m": its input "i" reads, its output "o" makes.
ModelStep Step(const char* reads, const char* makes) {
  return {"m", "", {{"i", reads}}, {{"o", makes}}};
}

std::vector<std::string> FaultsOf(const ModelSpec& spec, const std::vector<ModelStep>& steps) {
  std::vector<StepFault> faults;
  StepGraph::Of("whole", spec, steps, &faults);
  std::vector<std::string> texts;
  for (const StepFault& fault : faults) texts.push_back(fault.path + ": " + fault.what);
  return texts;
}

StepGraph Made(const ModelSpec& spec, const std::vector<ModelStep>& steps) {
  std::vector<StepFault> faults;
  StepGraph graph = StepGraph::Of("whole", spec, steps, &faults);
  EXPECT_TRUE(faults.empty()) << faults.front().path << faults.front().what;
  return graph;
}

// join ◀─ left, right ◀─ first, written the wrong way round.
std::vector<ModelStep> Diamond() {
  return {{"m", "", {{"a", "l"}, {"b", "r"}}, {{"o", "y"}}},
          Step("t", "l"),
          Step("t", "r"),
          Step("x", "t")};
}

TEST(StepGraph, StepsAreReadyOnceTheirTensorsAreThere) {
  const StepGraph graph = Made(SpecOf({"x"}, {"y"}), Diamond());
  EXPECT_EQ(graph.ReadyAfter(0, 0b1111), 0b1000u);
  EXPECT_EQ(graph.ReadyAfter(0b1000, 0b1111), 0b0110u) << "both branches at once";
  EXPECT_EQ(graph.ReadyAfter(0b1010, 0b1111), 0b0100u) << "the join waits for both";
  EXPECT_EQ(graph.ReadyAfter(0b1110, 0b1111), 0b0001u);
  EXPECT_EQ(graph.ReadyAfter(0b1111, 0b1111), 0u);
}

TEST(StepGraph, OnlyTheStepsOfTheWantedOutputsAreNeeded) {
  const StepGraph graph =
      Made(SpecOf({"x"}, {"y", "z"}), {Step("x", "t"), Step("t", "y"), Step("x", "z")});
  EXPECT_EQ(graph.NeededFor({0}), 0b011u);
  EXPECT_EQ(graph.NeededFor({1}), 0b100u);
  EXPECT_EQ(graph.NeededFor({0, 1}), 0b111u);
  EXPECT_EQ(graph.ReadyAfter(0, 0b011), 0b001u) << "a step that is not wanted does not begin";
}

TEST(StepGraph, InputsAreTheFirstTensors) {
  const StepGraph graph = Made(SpecOf({"x"}, {"y"}), {Step("x", "y")});
  EXPECT_EQ(graph.tensors()[0].maker, StepGraph::kNoStep);
  EXPECT_EQ(graph.tensors()[graph.OutputTensor(0)].maker, 0u);
}

TEST(StepGraph, ATensorThatNothingMakes) {
  EXPECT_THAT(FaultsOf(SpecOf({"x"}, {"y"}), {Step("xx", "y")}),
              ElementsAre("steps[0].inputs.i: 'xx' is made by no step and is no input; there are "
                          "x, y"));
  EXPECT_THAT(FaultsOf(SpecOf({"x"}, {"z"}), {Step("x", "y")}),
              ElementsAre("outputs[0].name: 'z' is made by no step"));
  EXPECT_THAT(FaultsOf(SpecOf({"x"}, {"x"}), {Step("x", "y")}),
              ElementsAre("outputs[0].name: 'x' is made by no step"));
}

TEST(StepGraph, ATensorThatIsMadeTwice) {
  EXPECT_THAT(FaultsOf(SpecOf({"x"}, {"y"}), {Step("x", "y"), Step("x", "y")}),
              ElementsAre("steps[1].outputs.o: 'y' is made by steps[0] already"));
  EXPECT_THAT(FaultsOf(SpecOf({"x"}, {"y"}), {Step("x", "y"), Step("y", "x")}),
              ElementsAre("steps[1].outputs.o: 'x' is an input of the model already"));
}

TEST(StepGraph, ACycle) {
  EXPECT_THAT(FaultsOf(SpecOf({"x"}, {"y"}), {Step("x", "y"), Step("b", "a"), Step("a", "b")}),
              ElementsAre("steps[1]: cannot begin: there is a cycle among steps[1], steps[2]"));
  EXPECT_THAT(FaultsOf(SpecOf({"x"}, {"y"}), {Step("y", "y")}),
              ElementsAre("steps[0]: cannot begin: there is a cycle among steps[0]"));
}

TEST(StepGraph, AStepOfTheModelItself) {
  ModelStep own = Step("x", "y");
  own.model = "whole";
  EXPECT_THAT(FaultsOf(SpecOf({"x"}, {"y"}), {own}),
              ElementsAre("steps[0].model: is the model that has the step"));
}

TEST(StepGraph, StepsAndInputsWithoutUse) {
  EXPECT_THAT(FaultsOf(SpecOf({"x"}, {"y"}), {Step("x", "y"), Step("y", "t")}),
              ElementsAre("steps[1]: makes nothing that leads to an output"));
  EXPECT_THAT(FaultsOf(SpecOf({"x", "w"}, {"y"}), {Step("x", "y")}),
              ElementsAre("inputs[1].name: 'w' is read by no step"));
}

TEST(StepGraph, AsManyStepsAsAreAllowed) {
  std::vector<ModelStep> steps;
  std::string last = "x";
  for (size_t i = 0; i < kMaxSteps; ++i) {
    const std::string next = i + 1 == kMaxSteps ? "y" : "t" + std::to_string(i);
    steps.push_back(Step(last.c_str(), next.c_str()));
    last = next;
  }
  EXPECT_THAT(FaultsOf(SpecOf({"x"}, {"y"}), steps), IsEmpty());
}

TEST(StepGraph, TheBeginningOfTexts) {
  EXPECT_EQ(StepPrefix("e", 1, "m"), "in ensemble 'e', steps[1] (model 'm'): ");
}

}  // namespace
}  // namespace mpsd
