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

// Bit i stands for step i.
using StepSet = uint64_t;
static_assert(kMaxSteps <= 64);

constexpr StepSet OneStep(size_t step) { return StepSet{1} << step; }

// `path` is the place in the model's config, "steps[1].inputs.x"; `what` continues a sentence that
// begins with it. A value.
struct StepFault {
  std::string path;
  std::string what;
};

// A model's steps and the tensors between them, by number:
//
//   tensors  0 "x"   1 "tokens"   2 "vector"      the model's inputs come first
//   steps    0 "split": 0 ─▶ 1    1 "encode": 1 ─▶ 2
//   outputs  0 "vector": tensor 2, for which steps 0 and 1 must run
//
// Each generation has one, made from the config and then constant. Knows names but no models:
// MemberFaults() compares them. Thread-safe.
class StepGraph {
 public:
  static constexpr uint32_t kNoStep = UINT32_MAX;

  struct Link {
    std::string name;
    uint32_t tensor = 0;
  };
  struct Step {
    std::string model;
    std::string version;
    std::vector<Link> inputs;
    std::vector<Link> outputs;
    StepSet after = 0;  // steps whose tensors it reads
  };
  struct Tensor {
    std::string name;
    uint32_t maker = kNoStep;  // kNoStep: an input of the model
  };

  // Adds to `faults`: a tensor that no step or two make; a cycle; the model itself as a step. Also
  // an input that no step reads, and a step that leads to no output. Without faults the graph is
  // usable.
  static StepGraph Of(const std::string& name, const ModelSpec& spec,
                      absl::Span<const ModelStep> steps, std::vector<StepFault>* faults);

  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }

  uint32_t OutputTensor(size_t output) const { return outputs_[output]; }

  StepSet NeededFor(absl::Span<const uint32_t> outputs) const;

  // Steps of `wanted` but not of `done` that can run once `done` have ended.
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

// The start of each text about a step, which Triton's clients know: "in ensemble 'm', steps[1]
// (model 'b'): ".
std::string StepPrefix(const std::string& name, size_t step, const std::string& member);

}  // namespace mpsd
