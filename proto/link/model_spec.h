// ModelSpec: what a model takes and gives, as config, worker and front end agree on it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"
#include "proto/base/datatype.h"
#include "proto/base/shape.h"

namespace mpsd {

struct TensorSpec {
  std::string name;
  DataType datatype = DataType::kInvalid;
  Dims dims;  // without the batch dim when the model batches; -1: any length

  bool operator==(const TensorSpec&) const = default;
};

// One dim of an output that carries a padded dim and is cut back to the request's own length.
struct PadCut {
  std::string output;
  uint32_t dim = 0;

  bool operator==(const PadCut&) const = default;
};

// Lets requests of different lengths share a batch: `dim` (batch dim not counted) of `input` is
// padded with `value` up to the smallest bucket that holds it.
struct PadRule {
  std::string input;
  uint32_t dim = 0;
  std::vector<int64_t> buckets;  // ascending
  double value = 0;
  std::vector<PadCut> outputs;

  bool operator==(const PadRule&) const = default;
};

struct ModelSpec {
  uint32_t max_batch_size = 0;  // 0: the model has no batch dim
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  std::vector<PadRule> pad;
  bool decoupled = false;  // a request has any number of answers; never with a batch dim

  bool batches() const { return max_batch_size > 0; }
  bool operator==(const ModelSpec&) const = default;
};

// The JSON form that stands in config files, in a model archive's `mpsd.json` and in control
// messages: {"max_batch_size", "inputs": [{"name","datatype","shape"}], "outputs", "pad",
// "decoupled"}.
nlohmann::json ToJson(const ModelSpec& spec);
absl::StatusOr<ModelSpec> ModelSpecFromJson(const nlohmann::json& json);

// "input_ids:INT64[-1,128]", the text that the --input flag takes.
std::string TensorText(const TensorSpec& tensor);
absl::StatusOr<TensorSpec> ParseTensorText(std::string_view text);

}  // namespace mpsd
