// ModelStep: a model that a model of steps runs, and the tensors that it reads and makes.
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace mpsd {

// As the config says it; StepGraph derives the order of the steps. A value.
struct ModelStep {
  std::string model;
  std::string version;  // a plain decimal number; empty: the highest ready one
  // From the names of that model's inputs and outputs to tensors of the whole model.
  std::map<std::string, std::string> inputs;
  std::map<std::string, std::string> outputs;

  bool operator==(const ModelStep&) const = default;
};

}  // namespace mpsd
