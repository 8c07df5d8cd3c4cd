// ModelSpec: the inputs and outputs of a model, as config, worker and front end agree on them.
//
//   {"max_batch_size": 32,
//    "inputs": [{"name": "ids", "datatype": "INT64", "shape": [-1]}],
//    "outputs": [{"name": "scores", "datatype": "FP32", "shape": [-1, 2]}],
//    "pad": [{"input": "ids", "dim": 0, "buckets": [16, 64],
//             "outputs": [{"output": "scores", "dim": 0}]}]}
//
//   request of 5 ids   ids [5] ──pad──▶ [16]  ──model──▶  scores [16,2] ──cut──▶ [5,2]
//
// The config may give any part of it. The worker completes it from the model's file in its
// LoadReport. From then on both sides check requests and answers against it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"
#include "proto/base/datatype.h"
#include "proto/base/shape.h"
#include "proto/link/model_task.h"

namespace mpsd {

// Describes one row, if the model batches.
struct TensorSpec {
  std::string name;
  DataType datatype = DataType::kInvalid;
  Dims dims;                                       // without the batch dim; -1: any length
  bool optional = false;                           // a request may leave this input out
  std::optional<Dims> client_dims = std::nullopt;  // dims as clients see them, if not `dims`

  const Dims& told_dims() const { return client_dims.has_value() ? *client_dims : dims; }
  bool operator==(const TensorSpec&) const = default;
};

// An output's dim as long as a padded input dim: cut back to the request's length.
struct PadCut {
  std::string output;
  uint32_t dim = 0;

  bool operator==(const PadCut&) const = default;
};

// Requests of different lengths share a batch: `dim` of `input` (without the batch dim) is filled
// with `value` up to the smallest bucket that fits.
struct PadRule {
  std::string input;
  uint32_t dim = 0;
  std::vector<int64_t> buckets;  // ascending
  double value = 0;
  std::vector<PadCut> outputs;

  bool operator==(const PadRule&) const = default;
};

// Incomplete in a load order, complete from the load report on. Plain data.
struct ModelSpec {
  uint32_t max_batch_size = 0;  // 0: no batch dim
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  std::vector<PadRule> pad;
  bool decoupled = false;             // a request has any number of answers; excludes a batch dim
  ModelTask task = ModelTask::kAuto;  // in a config the operator's choice, in a report the file's

  bool batches() const { return max_batch_size > 0; }
  bool operator==(const ModelSpec&) const = default;
};

// For config files, a model archive's `mpsd.json` and messages: {"max_batch_size", "inputs":
// [{"name","datatype","shape","optional","client_shape"}], "outputs", "pad", "decoupled", "task"}.
// Reading is strict; INVALID_ARGUMENT has a line per mistake.
nlohmann::json ToJson(const ModelSpec& spec);
absl::StatusOr<ModelSpec> ModelSpecFromJson(const nlohmann::json& json);

// The form of --input: "input_ids:INT64[-1,128]".
std::string TensorText(const TensorSpec& tensor);
absl::StatusOr<TensorSpec> ParseTensorText(std::string_view text);

}  // namespace mpsd
