#include "worker/model/torchscript/torchscript_spec.h"

#include <algorithm>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "proto/link/json_object.h"

namespace mpsd {
namespace {

absl::StatusOr<ModelSpec> ReadArchiveSpec(absl::string_view text) {
  if (text.empty()) return ModelSpec();
  const nlohmann::json json =
      nlohmann::json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return absl::InvalidArgumentError("is not JSON");
  return ModelSpecFromJson(json);
}

std::string InputFlags(const std::vector<std::string>& examples) {
  return absl::StrJoin(examples, " ", [](std::string* out, const std::string& example) {
    absl::StrAppend(out, "--input ", example);
  });
}

absl::Status NoSuchArgument(const std::string& name, const std::vector<std::string>& arguments) {
  const std::vector<std::string_view> names(arguments.begin(), arguments.end());
  return absl::InvalidArgumentError(
      absl::StrCat("forward has no input '", name, "'", DidYouMean(name, names, "its inputs are")));
}

}  // namespace

absl::StatusOr<ModelSpec> MergeSpecs(const LoadOrder& order, absl::string_view archive_json,
                                     const std::vector<std::string>& examples) {
  absl::StatusOr<ModelSpec> spec = ReadArchiveSpec(archive_json);
  if (!spec.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "model '", order.model, "': the archive's mpsd.json: ", spec.status().message()));
  }
  if (order.spec.max_batch_size > 0) spec->max_batch_size = order.spec.max_batch_size;
  if (!order.spec.inputs.empty()) spec->inputs = order.spec.inputs;
  if (!order.spec.outputs.empty()) spec->outputs = order.spec.outputs;
  if (!order.spec.pad.empty()) spec->pad = order.spec.pad;
  spec->decoupled = spec->decoupled || order.spec.decoupled;
  if (spec->decoupled && spec->batches()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "model '", order.model, "' is decoupled, so its max_batch_size must be 0, not ",
        spec->max_batch_size));
  }
  if (spec->inputs.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("model '", order.model,
                                                   "' does not tell its inputs; say them, for "
                                                   "example ",
                                                   InputFlags(examples)));
  }
  return spec;
}

absl::StatusOr<std::vector<size_t>> MatchArguments(const std::vector<TensorSpec>& inputs,
                                                   const std::vector<std::string>& arguments,
                                                   bool by_name) {
  std::vector<size_t> named;
  std::vector<size_t> placed;
  for (const TensorSpec& input : inputs) {
    const auto found = std::find(arguments.begin(), arguments.end(), input.name);
    if (found != arguments.end()) {
      named.push_back(static_cast<size_t>(found - arguments.begin()));
    } else if (by_name) {
      return NoSuchArgument(input.name, arguments);
    }
    placed.push_back(placed.size());
  }
  if (named.size() == inputs.size()) return named;
  if (inputs.size() <= arguments.size()) return placed;
  return absl::InvalidArgumentError(absl::StrCat("forward takes ", arguments.size(), " inputs (",
                                                 absl::StrJoin(arguments, ", "),
                                                 "), but the spec has ", inputs.size(), " inputs"));
}

}  // namespace mpsd
