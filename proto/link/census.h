// Census: the operators of a model, counted for placement.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace mpsd {

// How often each kind of operator occurs in a model's graph, each node counted once, and the size
// of its weights. Made by a format's loader, and sent in control messages; placement and the
// runtime decide from it how many lanes are safe.
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
  std::vector<std::string> parameter_dtypes;  // "FP32", …; sorted, without duplicates

  bool operator==(const Census&) const = default;
};

// Counts one operator, given its name in a graph of libtorch: "aten::layer_norm" or
// "aten.linear.default".
void CountOperator(const std::string& name, Census* census);

// The JSON form in control messages and in the metadata that exporters write. Reading treats its
// input as hostile; a missing count is 0.
nlohmann::json ToJson(const Census& census);
absl::StatusOr<Census> CensusFromJson(const nlohmann::json& json);

}  // namespace mpsd
