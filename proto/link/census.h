// Census: the operators of a model, counted for the number of its lanes.
//
// Some operators of libtorch have races on some devices. A model's file tells which operators it
// has, before it has run once: the loader of its format counts them, the worker decides from the
// counts how many lanes are safe (worker/model/runtime/mps_policy.h), and `mpsd inspect` shows
// them. An AOTInductor package has no graph any more; its exporter (worker/tools/export_model.py)
// counts beforehand and writes the JSON into the package's metadata. So a package of another tool
// has no census, and runs on one lane wherever the number of lanes depends on it:
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

// How often each kind of operator occurs in a model's graph, each node counted once, and the size
// of its weights. Plain data. Constant once the model is loaded.
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
  uint32_t contiguous = 0;  // copies into one piece
  uint64_t parameter_bytes = 0;
  std::vector<std::string> parameter_dtypes;  // "FP32", …; sorted, without duplicates

  // Those of the file, where the model converts its weights as it reads them; empty: as above.
  // Asked by the worker alone (precision_choice.h), and no part of the JSON form.
  std::vector<std::string> saved_dtypes;

  bool operator==(const Census&) const = default;
};

// Counts one operator, given its name in a graph of libtorch: "aten::layer_norm" or
// "aten.linear.default". Its kind follows from its name; most operators are of none and count in
// `operators` alone.
void CountOperator(const std::string& name, Census* census);

// The JSON form, in the line of `mpsd-worker --describe` and in the metadata that exporters write.
// Reading treats its input as hostile: INVALID_ARGUMENT for a value of a wrong type or range. A
// missing count is 0, an unknown key is ignored, and `known` is true unless the JSON says
// otherwise.
nlohmann::json ToJson(const Census& census);
absl::StatusOr<Census> CensusFromJson(const nlohmann::json& json);

}  // namespace mpsd
