// ModelStep: a member of a model of steps, and its tensors.
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace mpsd {

// As the config says it. A value.
struct ModelStep {
  std::string model;
  std::string version;  // empty: the highest ready one
  // From that model's names to tensors of the whole model.
  std::map<std::string, std::string> inputs;
  std::map<std::string, std::string> outputs;

  bool operator==(const ModelStep&) const = default;
};

}  // namespace mpsd
