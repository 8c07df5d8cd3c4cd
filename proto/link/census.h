// Census: a model's operators, counted to decide how many lanes it may have.
//
// Some operators of libtorch have races on some devices. Before the first run, the loader of each
// format counts a model's operators. From the counts the worker decides how many lanes are safe
// (worker/model/runtime/mps_policy.h), and `mpsd inspect` shows them. An AOTInductor package has no
// graph: its exporter (worker/tools/export_model.py) writes the counts into the package's metadata.
// A package made by another tool has no census, and runs on one lane wherever that number depends
// on the census:
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
// of the weights. Plain data. Constant once the model is loaded.
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
  uint32_t contiguous = 0;  // copies into one contiguous piece
  uint64_t parameter_bytes = 0;
  std::vector<std::string> parameter_dtypes;  // "FP32", …; sorted, without duplicates

  // Datatypes saved in the file, if the model converts its weights as it reads them; empty: same as
  // above. Used only by the worker (precision_choice.h), and not part of the JSON form.
  std::vector<std::string> saved_dtypes;

  bool operator==(const Census&) const = default;
};

// Counts one operator by its name in a graph of libtorch: "aten::layer_norm" or
// "aten.linear.default". Most operators have no kind and count only in `operators`.
void CountOperator(const std::string& name, Census* census);

// The JSON form, in the line of `mpsd-worker --describe` and in exporters' metadata. Reading treats
// its input as hostile: INVALID_ARGUMENT for a value of a wrong type or range. A missing count is
// 0, an unknown key is ignored, and `known` is true unless the JSON says otherwise.
nlohmann::json ToJson(const Census& census);
absl::StatusOr<Census> CensusFromJson(const nlohmann::json& json);

}  // namespace mpsd
