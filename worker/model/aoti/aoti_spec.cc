#include "worker/model/aoti/aoti_spec.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace mpsd {
namespace {

std::string Find(const PackageMetadata& metadata, const std::string& key) {
  const auto found = metadata.find(key);
  return found == metadata.end() ? "" : found->second;
}

absl::Status Malformed(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("the package's metadata 'mpsd' ", what));
}

constexpr char kStanza[] =
    R"("max_batch_size": 8, "inputs": [{"name": "input", "datatype": "FP32", "shape": [-1]}], )"
    R"("outputs": [{"name": "output", "datatype": "FP32", "shape": [-1]}])";

}  // namespace

absl::StatusOr<PackageFacts> ReadPackageFacts(const PackageMetadata& metadata) {
  PackageFacts facts;
  facts.device = Find(metadata, "AOTI_DEVICE_KEY");
  facts.machine = Find(metadata, "AOTI_MACHINE");
  const std::string text = Find(metadata, "mpsd");
  if (text.empty()) return facts;
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("spec")) return Malformed("is no JSON with a 'spec'");
  absl::StatusOr<ModelSpec> spec = ModelSpecFromJson(json["spec"]);
  if (!spec.ok()) return Malformed(absl::StrCat("has a wrong spec: ", spec.status().message()));
  facts.spec = *std::move(spec);
  if (json.contains("census")) {
    absl::StatusOr<Census> census = CensusFromJson(json["census"]);
    if (!census.ok()) return Malformed("has a wrong census");
    facts.census = *std::move(census);
  }
  if (json.contains("writes_inputs") && json["writes_inputs"].is_boolean()) {
    facts.writes_inputs = json["writes_inputs"].get<bool>();
  }
  if (facts.machine.empty() && json.contains("machine") && json["machine"].is_string()) {
    facts.machine = json["machine"].get<std::string>();
  }
  return facts;
}

absl::Status CheckPackageFits(const PackageFacts& facts, const std::string& device,
                              const std::string& machine) {
  const std::string type = device.substr(0, device.find(':'));
  if (!facts.device.empty() && facts.device != type) {
    return absl::FailedPreconditionError(
        absl::StrCat("the package was compiled for ", facts.device, ", but the model's device is ",
                     device, "; set its device to ", facts.device, ", or export it for ", type));
  }
  if (!facts.machine.empty() && facts.machine != machine) {
    return absl::FailedPreconditionError(absl::StrCat("the package was compiled for ",
                                                      facts.machine, ", but this machine is ",
                                                      machine, "; export it on such a machine"));
  }
  return absl::OkStatus();
}

absl::Status CheckPackagePrecision(Precision precision) {
  if (precision == Precision::kAsSaved) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a package computes in what it was compiled for, not in '", NameOf(precision),
                   "'; export the model in that precision"));
}

absl::StatusOr<ModelSpec> MergePackageSpec(const LoadOrder& order, const PackageFacts& facts) {
  ModelSpec spec = facts.spec;
  if (order.spec.max_batch_size > 0) spec.max_batch_size = order.spec.max_batch_size;
  if (!order.spec.inputs.empty()) spec.inputs = order.spec.inputs;
  if (!order.spec.outputs.empty()) spec.outputs = order.spec.outputs;
  if (!order.spec.pad.empty()) spec.pad = order.spec.pad;
  if (spec.inputs.empty() || spec.outputs.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the package does not tell its inputs and outputs; export it with export_model.py, or add "
        "to the model in the config, with its own names, types and shapes: ",
        kStanza));
  }
  for (const TensorSpec& input : spec.inputs) {
    if (!input.optional) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("'", input.name, "' is optional, and packages take all their inputs"));
  }
  for (const auto* tensors : {&spec.inputs, &spec.outputs}) {
    for (const TensorSpec& tensor : *tensors) {
      if (tensor.datatype != DataType::kBytes) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("'", tensor.name, "' is BYTES, and packages know tensors only"));
    }
  }
  return spec;
}

}  // namespace mpsd
