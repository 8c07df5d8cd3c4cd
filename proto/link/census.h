// Census: what a model is made of, as far as placement asks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace mpsd {

// Counts of the operators in a model's graph, each operator once, and the size of its weights.
struct Census {
  bool known = false;  // false: the format does not tell
  uint32_t operators = 0;
  uint32_t layer_norm = 0;
  uint32_t attention = 0;
  uint32_t linear = 0;
  uint32_t convolution = 0;
  uint32_t matmul = 0;
  uint32_t embedding = 0;
  uint32_t recurrent = 0;
  uint64_t parameter_bytes = 0;
  std::vector<std::string> parameter_dtypes;  // "FP32", sorted, each once

  bool operator==(const Census&) const = default;
};

// Counts one operator, by the name that libtorch's graphs have for it: "aten::layer_norm",
// "aten.linear.default".
void CountOperator(const std::string& name, Census* census);

// The JSON form of control messages and of the metadata that exporters write. Reading treats its
// input as hostile; what is missing is 0.
nlohmann::json ToJson(const Census& census);
absl::StatusOr<Census> CensusFromJson(const nlohmann::json& json);

}  // namespace mpsd
