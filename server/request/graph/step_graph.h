// StepGraph: which steps of a model follow which.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "proto/base/limits.h"
#include "proto/link/model_spec.h"
#include "server/request/graph/model_step.h"

namespace mpsd {

// A set of a model's steps: bit i stands for step i.
using StepSet = uint64_t;
static_assert(kMaxSteps <= 64);

constexpr StepSet OneStep(size_t step) { return StepSet{1} << step; }

// A mistake in a model's steps. `path` is the place in the model's config, such as
// "steps[1].inputs.x". `what` is the rest of a sentence that begins with it. A value.
struct StepFault {
  std::string path;
  std::string what;
};

// The steps of a model, and the tensors between them, by number:
//
//   tensors  0 "x"   1 "tokens"   2 "vector"      the model's inputs come first
//   steps    0 "split": 0 ─▶ 1    1 "encode": 1 ─▶ 2
//   outputs  0 "vector": tensor 2, for which steps 0 and 1 must run
//
// A step may run once all steps that make its tensors have ended. Made from a config once, then
// constant; each generation of the model has one. Knows names but no models: MemberFaults() checks
// whether the members have such tensors. Thread-safe.
class StepGraph {
 public:
  static constexpr uint32_t kNoStep = UINT32_MAX;

  // An input or output of a step's model, and the tensor that it reads or makes.
  struct Link {
    std::string name;
    uint32_t tensor = 0;
  };
  struct Step {
    std::string model;
    std::string version;
    std::vector<Link> inputs;
    std::vector<Link> outputs;
    StepSet after = 0;  // the steps whose tensors it reads
  };
  struct Tensor {
    std::string name;
    uint32_t maker = kNoStep;  // the step that makes it; kNoStep: an input of the model
  };

  // Reads the steps of the model `name`, whose inputs and outputs are in `spec`. Adds mistakes to
  // `faults`: a tensor that no step makes, or that two make; a cycle; a step that runs the model
  // itself. Also an input that no step reads, and a step that leads to no output. The graph is
  // usable only if there was no mistake.
  static StepGraph Of(const std::string& name, const ModelSpec& spec,
                      absl::Span<const ModelStep> steps, std::vector<StepFault>* faults);

  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }

  uint32_t OutputTensor(size_t output) const { return outputs_[output]; }

  StepSet NeededFor(absl::Span<const uint32_t> outputs) const;

  // The steps of `wanted`, except those in `done`, whose tensors are all there once the steps in
  // `done` have ended.
  StepSet ReadyAfter(StepSet done, StepSet wanted) const;

 private:
  void TakeOutputs(absl::Span<const ModelStep> steps, std::vector<StepFault>* faults);
  void TakeInputs(absl::Span<const ModelStep> steps, std::vector<StepFault>* faults);
  void TakeEnds(const ModelSpec& spec, std::vector<StepFault>* faults);
  void FindCycle(std::vector<StepFault>* faults) const;
  void FindUseless(const ModelSpec& spec, std::vector<StepFault>* faults) const;
  uint32_t Find(const std::string& tensor) const;
  StepSet LeadingTo(uint32_t tensor) const;

  std::vector<Step> steps_;
  std::vector<Tensor> tensors_;
  std::vector<uint32_t> outputs_;  // tensor of each output of the model
};

// "in ensemble 'm', steps[1] (model 'b'): ": the start of each text about a step, for clients.
// Triton's clients know the first words.
std::string StepPrefix(const std::string& name, size_t step, const std::string& member);

}  // namespace mpsd
