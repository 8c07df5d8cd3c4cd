#include "worker/load/describe.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "proto/base/limits.h"
#include "proto/link/messages.h"
#include "worker/load/load_in_sandbox.h"
#include "worker/load/load_model.h"
#include "worker/model/model.h"
#include "worker/sandbox/sandbox.h"

namespace mpsd {
namespace {

using nlohmann::ordered_json;

constexpr int kExitUsage = 64;
constexpr int kExitBadModel = 65;

void Print(const ordered_json& json) {
  std::printf("%s\n", json.dump(-1, ' ', false, ordered_json::error_handler_t::replace).c_str());
  std::fflush(stdout);
}

absl::Status ReadTensor(const std::string& text, ModelSpec* spec,
                        std::vector<TensorSpec>* tensors) {
  absl::StatusOr<TensorSpec> tensor = ParseTensorText(text);
  if (!tensor.ok()) return tensor.status();
  // A first dim of -1 is the batch, as in `mpsd serve FILE`.
  if (!tensor->dims.empty() && tensor->dims.front() == -1) {
    tensor->dims.erase(tensor->dims.begin());
    if (spec->max_batch_size == 0) spec->max_batch_size = 64;
  }
  tensors->push_back(*std::move(tensor));
  return absl::OkStatus();
}

absl::Status ReadFlag(const std::string& flag, const std::string& value, LoadOrder* order) {
  if (flag == "--format") {
    const std::optional<ModelFormat> format = FromName<ModelFormat>(value);
    if (!format.has_value()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "unknown format '", value, "'; there are torchscript, aoti, huggingface, synthetic"));
    }
    order->format = *format;
  } else if (flag == "--device") {
    order->device = value;
  } else if (flag == "--precision") {
    const std::optional<Precision> precision = FromName<Precision>(value);
    if (!precision.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat("unknown precision '", value,
                       "'; there are as_saved, auto, fp32, tf32, bf16, fp16, int8"));
    }
    order->precision = *precision;
  } else if (flag == "--input") {
    return ReadTensor(value, &order->spec, &order->spec.inputs);
  } else if (flag == "--output") {
    return ReadTensor(value, &order->spec, &order->spec.outputs);
  } else if (flag != "--max-batch-size") {
    return absl::InvalidArgumentError(absl::StrCat("unknown flag ", flag));
  } else if (!absl::SimpleAtoi(value, &order->spec.max_batch_size) ||
             order->spec.max_batch_size > kMaxBatchRows) {
    return absl::InvalidArgumentError(absl::StrCat("--max-batch-size ", value));
  }
  return absl::OkStatus();
}

ModelFormat FormatOf(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return ModelFormat::kHuggingFace;
  return absl::EndsWith(path, ".pt2") ? ModelFormat::kAoti : ModelFormat::kTorchScript;
}

absl::StatusOr<LoadOrder> ReadArguments(int argc, char** argv) {
  LoadOrder order;
  order.path = argv[2];
  order.format = FormatOf(order.path);
  std::filesystem::path path(order.path);
  if (!path.has_filename()) path = path.parent_path();  // the path ends in a slash
  const bool is_folder = order.format == ModelFormat::kHuggingFace;
  order.model = is_folder ? path.filename().string() : path.stem().string();
  order.device = "auto";
  for (int i = 3; i + 1 < argc; i += 2) {
    if (absl::Status status = ReadFlag(argv[i], argv[i + 1], &order); !status.ok()) return status;
  }
  if (argc % 2 == 0) return absl::InvalidArgumentError("a flag without a value");
  return order;
}

std::vector<int64_t> ShapeJson(const Dims& dims) { return {dims.begin(), dims.end()}; }

ordered_json TensorsJson(const std::vector<TensorSpec>& tensors) {
  ordered_json json = ordered_json::array();
  for (const TensorSpec& tensor : tensors) {
    ordered_json& told = json.emplace_back();
    told["name"] = tensor.name;
    told["datatype"] = std::string(DataTypeName(tensor.datatype));
    told["shape"] = ShapeJson(tensor.dims);
    if (tensor.optional) told["optional"] = true;
    if (tensor.client_dims.has_value()) told["client_shape"] = ShapeJson(*tensor.client_dims);
  }
  return json;
}

ordered_json FactsJson(const std::vector<ModelFact>& facts) {
  ordered_json json = ordered_json::object();
  for (const ModelFact& fact : facts) json[fact.name] = fact.text;
  return json;
}

ordered_json ConfigOf(const LoadOrder& order, const ModelSpec& spec) {
  ordered_json model = {
      {"name", order.model}, {"path", order.path}, {"format", NameOf(order.format)}};
  if (order.precision != Precision::kAsSaved) model["precision"] = NameOf(order.precision);
  if (spec.batches()) model["max_batch_size"] = spec.max_batch_size;
  if (order.format == ModelFormat::kHuggingFace) {  // the rest follows from the folder
    return {{"models", ordered_json::array({model})}};
  }
  model["inputs"] = TensorsJson(spec.inputs);
  model["outputs"] = TensorsJson(spec.outputs);
  if (!spec.pad.empty()) model["pad"] = ToJson(spec)["pad"];
  if (spec.decoupled) model["decoupled"] = true;
  if (spec.task != ModelTask::kAuto) model["task"] = NameOf(spec.task);
  return {{"models", ordered_json::array({model})}};
}

int DescribeModel(const LoadOrder& order) {
  const absl::StatusOr<std::unique_ptr<Model>> model = LoadInSandbox(order);
  if (!model.ok()) {
    Print({{"error", std::string(model.status().message())}});
    return kExitBadModel;
  }
  std::string why;
  const uint32_t lanes = BearableLanes(**model, kMaxLanes, &why);
  const ModelSpec& spec = (*model)->spec();
  const ModelTraits& traits = (*model)->traits();
  Print({{"file", order.path},
         {"format", NameOf(order.format)},
         {"device", traits.device},
         {"precision", NameOf(traits.precision)},
         {"precision_note", traits.precision_note},
         {"runtime", RuntimeName()},
         {"runtime_kind", LoadedRuntimeKindName()},
         {"runtime_path", LoadedRuntimePath()},
         {"driver_guard", NameOf(GuardOfDriver(traits.device))},
         {"input_memory", NameOf(traits.input_memory)},
         {"max_batch_size", spec.max_batch_size},
         {"inputs", TensorsJson(spec.inputs)},
         {"outputs", TensorsJson(spec.outputs)},
         {"census", ToJson(traits.census)},
         {"facts", FactsJson(traits.facts)},
         {"lanes_allowed", lanes},
         {"lanes_reason", why},
         {"config", ConfigOf(order, spec)}});
  return 0;
}

ordered_json PlanJson(const std::string& folder) {
  const absl::StatusOr<FolderPlan> plan = PlanOfFolder(folder);
  if (!plan.ok()) return {{"error", std::string(plan.status().message())}};
  return {{"task", NameOf(plan->task)}, {"width", plan->width}, {"facts", FactsJson(plan->facts)}};
}

int DescribeConfigs(int count, char** folders) {
  ordered_json plans = ordered_json::array();
  for (int i = 0; i < count; ++i) plans.push_back(PlanJson(folders[i]));
  Print(plans);
  return 0;
}

// Gives the rights up for good: even a host that has a call may refuse it.
absl::Status EnterStrictSandbox() {
  LoadOrder order;
  order.format = ModelFormat::kSynthetic;
  order.sandbox = SandboxLevel::kStrict;
  const absl::StatusOr<Sandbox> sandbox = Sandbox::Enter(Sandbox::OptionsOf(order));
  return sandbox.ok() ? sandbox->Seal() : sandbox.status();
}

int DescribeSandbox() {
  const absl::Status entered = EnterStrictSandbox();
  if (entered.ok()) {
    Print({{"sandbox", NameOf(SandboxLevel::kStrict)}});
  } else {
    Print({{"error", std::string(entered.message())}});
  }
  return 0;
}

}  // namespace

int Describe(int argc, char** argv) {
  const std::string verb = argv[1];
  if (verb == "--devices" && argc == 2) {
    Print({{"devices", UsableDevices()},
           {"gpu_addresses", GpuAddresses()},
           {"passed_over", PassedOver()},
           {"runtime", RuntimeName()},
           {"runtime_kind", LoadedRuntimeKindName()}});
    return 0;
  }
  if (verb == "--sandbox" && argc == 2) return DescribeSandbox();
  if (verb == "--configs") return DescribeConfigs(argc - 2, argv + 2);
  if (verb != "--describe" || argc < 3) {
    std::fprintf(stderr,
                 "usage: mpsd-worker --describe FILE [FLAGS…] | --configs FOLDER… | --devices | "
                 "--sandbox\n");
    return kExitUsage;
  }
  const absl::StatusOr<LoadOrder> order = ReadArguments(argc, argv);
  if (order.ok()) return DescribeModel(*order);
  Print({{"error", std::string(order.status().message())}});
  return kExitUsage;
}

}  // namespace mpsd
