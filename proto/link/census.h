// Census: a model's operators, counted to decide how many lanes it may have.
//
// Some operators of libtorch have races on some devices (worker/model/runtime/mps_policy.h). An
// AOTInductor package has no graph: worker/tools/export_model.py writes the counts into its
// metadata. A package without a census runs on one lane wherever the census matters:
//
//   {"known": true, "operators": 120, "layer_norm": 25, "attention": 12, "linear": 74,
//    "parameter_bytes": 90852864, "parameter_dtypes": ["FP32"]}     and the other counts
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace mpsd {

// Each node of the graph counts once. Plain data.
struct Census {
  bool known = false;  // the format tells
  uint32_t operators = 0;
  uint32_t layer_norm = 0;
  uint32_t attention = 0;
  uint32_t linear = 0;
  uint32_t convolution = 0;
  uint32_t matmul = 0;
  uint32_t embedding = 0;
  uint32_t recurrent = 0;
  uint32_t contiguous = 0;  // copies into one piece
  uint64_t parameter_bytes = 0;
  std::vector<std::string> parameter_dtypes;  // sorted, without duplicates

  // Datatypes in the file, if the model converts its weights; empty: same as above. For the worker
  // (precision_choice.h), not in the JSON.
  std::vector<std::string> saved_dtypes;

  bool operator==(const Census&) const = default;
};

// The name is "aten::layer_norm" or "aten.linear.default". Most operators count only in
// `operators`.
void CountOperator(const std::string& name, Census* census);

// The form of `mpsd-worker --describe` and of exporters' metadata. Reads hostile input:
// INVALID_ARGUMENT for a wrong type or range. A missing count is 0, an unknown key is ignored,
// `known` is true by default.
nlohmann::json ToJson(const Census& census);
absl::StatusOr<Census> CensusFromJson(const nlohmann::json& json);

}  // namespace mpsd
