// ModelStep: one of the models that a model of steps runs, and the tensors that it reads and makes.
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace mpsd {

// As the config says it; StepGraph says which steps follow which. A value.
struct ModelStep {
  std::string model;
  std::string version;  // a plain decimal number; empty: the highest that is ready
  // From the names of that model's inputs and outputs to those of tensors of the whole.
  std::map<std::string, std::string> inputs;
  std::map<std::string, std::string> outputs;

  bool operator==(const ModelStep&) const = default;
};

}  // namespace mpsd
