#include "server/request/graph/step_graph.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/base/check.h"
#include "proto/link/json_object.h"

namespace mpsd {
namespace {

std::string StepPath(size_t step) { return JsonPath("steps", step); }

std::string TensorPath(size_t step, const char* side, const std::string& name) {
  return JsonPath(JsonPath(StepPath(step), side), name);
}

}  // namespace

std::string StepPrefix(const std::string& name, size_t step, const std::string& member) {
  return absl::StrCat("in ensemble '", name, "', steps[", step, "] (model '", member, "'): ");
}

StepGraph StepGraph::Of(const std::string& name, const ModelSpec& spec,
                        absl::Span<const ModelStep> steps, std::vector<StepFault>* faults) {
  MPSD_CHECK(steps.size() <= kMaxSteps);
  StepGraph graph;
  for (const TensorSpec& input : spec.inputs) graph.tensors_.push_back({input.name, kNoStep});
  for (size_t i = 0; i < steps.size(); ++i) {
    graph.steps_.push_back({steps[i].model, steps[i].version, {}, {}, 0});
    if (steps[i].model != name) continue;
    faults->push_back({JsonPath(StepPath(i), "model"), "is the model that has the step"});
  }
  const size_t before = faults->size();
  graph.TakeOutputs(steps, faults);
  graph.TakeInputs(steps, faults);
  graph.TakeEnds(spec, faults);
  if (faults->size() == before) graph.FindCycle(faults);
  if (faults->size() == before) graph.FindUseless(spec, faults);
  return graph;
}

void StepGraph::TakeOutputs(absl::Span<const ModelStep> steps, std::vector<StepFault>* faults) {
  for (size_t i = 0; i < steps.size(); ++i) {
    for (const auto& [name, tensor] : steps[i].outputs) {
      const uint32_t known = Find(tensor);
      if (known == tensors_.size()) {
        tensors_.push_back({tensor, static_cast<uint32_t>(i)});
        steps_[i].outputs.push_back({name, known});
        continue;
      }
      const uint32_t maker = tensors_[known].maker;
      faults->push_back(
          {TensorPath(i, "outputs", name),
           maker == kNoStep
               ? absl::StrCat("'", tensor, "' is an input of the model already")
               : absl::StrCat("'", tensor, "' is made by ", StepPath(maker), " already")});
    }
  }
}

void StepGraph::TakeInputs(absl::Span<const ModelStep> steps, std::vector<StepFault>* faults) {
  std::vector<std::string_view> names;
  for (const Tensor& tensor : tensors_) names.push_back(tensor.name);
  for (size_t i = 0; i < steps.size(); ++i) {
    for (const auto& [name, tensor] : steps[i].inputs) {
      const uint32_t known = Find(tensor);
      if (known == tensors_.size()) {
        faults->push_back({TensorPath(i, "inputs", name),
                           absl::StrCat("'", tensor, "' is made by no step and is no input",
                                        DidYouMean(tensor, names, "there are"))});
        continue;
      }
      steps_[i].inputs.push_back({name, known});
      const uint32_t maker = tensors_[known].maker;
      if (maker != kNoStep) steps_[i].after |= OneStep(maker);
    }
  }
}

void StepGraph::TakeEnds(const ModelSpec& spec, std::vector<StepFault>* faults) {
  for (size_t i = 0; i < spec.outputs.size(); ++i) {
    const uint32_t tensor = Find(spec.outputs[i].name);
    outputs_.push_back(tensor);
    if (tensor < tensors_.size() && tensors_[tensor].maker != kNoStep) continue;
    faults->push_back({JsonPath(JsonPath("outputs", i), "name"),
                       absl::StrCat("'", spec.outputs[i].name, "' is made by no step")});
  }
}

// Removes steps that can run, repeatedly: the rest is a cycle.
void StepGraph::FindCycle(std::vector<StepFault>* faults) const {
  const StepSet all = steps_.empty() ? 0 : ~StepSet{0} >> (64 - steps_.size());
  StepSet done = 0;
  while (const StepSet ready = ReadyAfter(done, all)) done |= ready;
  std::vector<std::string> left;
  for (size_t i = 0; i < steps_.size(); ++i) {
    if ((done & OneStep(i)) == 0) left.push_back(StepPath(i));
  }
  if (left.empty()) return;
  faults->push_back({left.front(), absl::StrCat("cannot begin: there is a cycle among ",
                                                absl::StrJoin(left, ", "))});
}

void StepGraph::FindUseless(const ModelSpec& spec, std::vector<StepFault>* faults) const {
  std::vector<uint32_t> all;
  for (uint32_t i = 0; i < outputs_.size(); ++i) all.push_back(i);
  const StepSet needed = NeededFor(all);
  std::vector<bool> is_read(tensors_.size(), false);
  for (size_t i = 0; i < steps_.size(); ++i) {
    for (const Link& input : steps_[i].inputs) is_read[input.tensor] = true;
    if ((needed & OneStep(i)) != 0) continue;
    faults->push_back({StepPath(i), "makes nothing that leads to an output"});
  }
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    if (is_read[i]) continue;
    faults->push_back({JsonPath(JsonPath("inputs", i), "name"),
                       absl::StrCat("'", spec.inputs[i].name, "' is read by no step")});
  }
}

uint32_t StepGraph::Find(const std::string& tensor) const {
  const auto found = std::find_if(tensors_.begin(), tensors_.end(),
                                  [&](const Tensor& other) { return other.name == tensor; });
  return static_cast<uint32_t>(found - tensors_.begin());
}

StepSet StepGraph::LeadingTo(uint32_t tensor) const {
  if (tensors_[tensor].maker == kNoStep) return 0;
  StepSet found = OneStep(tensors_[tensor].maker);
  for (StepSet before = 0; before != found;) {
    before = found;
    for (size_t i = 0; i < steps_.size(); ++i) {
      if ((before & OneStep(i)) != 0) found |= steps_[i].after;
    }
  }
  return found;
}

StepSet StepGraph::NeededFor(absl::Span<const uint32_t> outputs) const {
  StepSet needed = 0;
  for (const uint32_t output : outputs) needed |= LeadingTo(outputs_[output]);
  return needed;
}

StepSet StepGraph::ReadyAfter(StepSet done, StepSet wanted) const {
  StepSet ready = 0;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const bool is_wanted = (wanted & ~done & OneStep(i)) != 0;
    if (is_wanted && (steps_[i].after & ~done) == 0) ready |= OneStep(i);
  }
  return ready;
}

}  // namespace mpsd
