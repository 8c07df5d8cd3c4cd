#include "worker/load/load_model.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "worker/execute/precision_choice.h"
#include "worker/model/synthetic/repeating_model.h"
#include "worker/model/synthetic/synthetic_encoder.h"
#include "worker/model/synthetic/synthetic_model.h"
#include "worker/model/synthetic/synthetic_options.h"
#ifdef MPSD_WITH_TORCH
#include "worker/model/aoti/aoti_model.h"
#include "worker/model/encoder/encoder_folder.h"
#include "worker/model/encoder/encoder_model.h"
#include "worker/model/torch/torch_device.h"
#include "worker/model/torch/torch_precision.h"
#include "worker/model/torchscript/torchscript_model.h"
#endif

namespace mpsd {
namespace {

#ifdef MPSD_WITH_TORCH
absl::StatusOr<std::unique_ptr<Model>> LoadWithTorch(const LoadOrder& order) {
  if (order.format == ModelFormat::kTorchScript) return LoadTorchScript(order);
  if (order.format == ModelFormat::kHuggingFace) return LoadEncoder(order);
  return LoadAoti(order);
}

ModelTask TaskOf(const EncoderFolder& folder) {
  if (!folder.has_scores()) return ModelTask::kEmbedding;
  return folder.width() == 1 ? ModelTask::kRerank : ModelTask::kClassify;
}

absl::StatusOr<FolderPlan> ReadPlan(const std::string& path) {
  const ModelFolder source(path);
  // There is no sandbox here, in which weights of torch are read.
  const bool has_safetensors =
      source.Has("model.safetensors") || source.Has("model.safetensors.index.json");
  const absl::StatusOr<EncoderFolder> folder =
      has_safetensors ? ReadFolderAndWeights(source) : ReadEncoderFolder(source);
  if (!folder.ok()) return folder.status();
  const absl::StatusOr<ModelSpec> spec = EncoderSpec(LoadOrder(), *folder);
  if (!spec.ok()) return spec.status();
  return FolderPlan{TaskOf(*folder), folder->width(), FactsOf(*folder, *spec)};
}
#else
absl::StatusOr<FolderPlan> ReadPlan(const std::string& path) {
  return absl::UnimplementedError(
      absl::StrCat("this mpsd-worker was built without libtorch, and cannot serve ", path));
}

absl::StatusOr<std::unique_ptr<Model>> LoadWithTorch(const LoadOrder& order) {
  return absl::UnimplementedError(
      absl::StrCat("model '", order.model, "' is of the format ", NameOf(order.format),
                   ", but this mpsd-worker was built without libtorch"));
}
#endif

absl::StatusOr<std::unique_ptr<Model>> LoadSynthetic(const LoadOrder& order) {
  const absl::StatusOr<SyntheticOptions> options = SyntheticOptions::Parse(order.parameters);
  if (options.ok() && options->repeat) return RepeatingModel::Load(order, SyntheticEffects::Real());
  if (options.ok() && options->encode) {
    return SyntheticEncoder::Load(order, SyntheticEffects::Real());
  }
  return SyntheticModel::Load(order, SyntheticEffects::Real());
}

absl::Status NotDecoupled(const LoadOrder& order) {
  return absl::InvalidArgumentError(
      absl::StrCat("model '", order.model, "' cannot be decoupled: a model of the format ",
                   NameOf(order.format), " gives one answer to a request"));
}

absl::Status NoPrecision(const LoadOrder& order) {
  return absl::InvalidArgumentError(absl::StrCat("a synthetic model computes nothing, so not in '",
                                                 NameOf(order.precision), "'"));
}

// Loads in the order's precision, which is not "auto".
absl::StatusOr<std::unique_ptr<Model>> LoadAsOrdered(const LoadOrder& order) {
  if (order.format == ModelFormat::kSynthetic) {
    return order.precision == Precision::kAsSaved ? LoadSynthetic(order) : NoPrecision(order);
  }
  const bool may_be_decoupled = order.format == ModelFormat::kTorchScript;
  if (order.spec.decoupled && !may_be_decoupled) return NotDecoupled(order);
  absl::StatusOr<std::unique_ptr<Model>> model = LoadWithTorch(order);
  // Without a word in the config, the model's file says whether the model is decoupled.
  const bool has_answers = model.ok() && (*model)->answers() != nullptr;
  if (model.ok() && (*model)->spec().decoupled && !has_answers) return NotDecoupled(order);
  return model;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Model>> LoadModel(const LoadOrder& order) {
  const bool is_int8 = order.precision == Precision::kInt8;
  if (order.precision != Precision::kAuto && !is_int8) return LoadAsOrdered(order);
  PrecisionChoiceOptions options;
  options.samples = order.warmup_samples;
#ifdef MPSD_WITH_TORCH
  options.cpu_has_bf16 = CpuMultipliesBf16();
#endif
  const auto load = [&order](Precision precision) {
    LoadOrder tried = order;
    tried.precision = precision;
    return LoadAsOrdered(tried);
  };
  absl::StatusOr<std::unique_ptr<Model>> model =
      is_int8 ? LoadInInt8(load, options) : ChoosePrecision(load, options);
#ifdef MPSD_WITH_TORCH
  if (model.ok()) RoundProductsFor((*model)->traits().precision);
#endif
  return model;
}

absl::Status StartRuntime([[maybe_unused]] const LoadOrder& order) {
#ifdef MPSD_WITH_TORCH
  if (order.format != ModelFormat::kSynthetic) return StartTorch(order);
#endif
  return absl::OkStatus();
}

DriverGuard GuardOfDriver([[maybe_unused]] const std::string& device,
                          [[maybe_unused]] std::string* why) {
#ifdef MPSD_WITH_TORCH
  const DriverGuardState state = GuardDriver(c10::Device(device));
  if (why != nullptr) *why = state.why;
  return state.guard;
#else
  return DriverGuard::kNone;
#endif
}

uint32_t BearableLanes(const Model& model, uint32_t wanted, std::string* why) {
  const ModelTraits& traits = model.traits();
  const uint32_t lanes = std::min(wanted, traits.lanes_max);
  if (lanes < wanted) *why = traits.lanes_reason;
  std::string missing;
  if (lanes < 2 || GuardOfDriver(traits.device, &missing) != DriverGuard::kMissing) return lanes;
  *why = absl::StrCat("the gpu's driver could not be guarded: ", missing);
  return 1;
}

std::string LoadedRuntimeKindName() {
#ifdef MPSD_WITH_TORCH
  return NameOf(LoadedRuntimeKind());
#else
  return "";
#endif
}

std::string LoadedRuntimePath() {
#ifdef MPSD_WITH_TORCH
  return LoadedRuntime().library_path;
#else
  return "";
#endif
}

std::vector<std::string> UsableDevices() {
#ifdef MPSD_WITH_TORCH
  return DeviceNames();
#else
  return {"cpu"};
#endif
}

std::vector<std::string> GpuAddresses() {
#ifdef MPSD_WITH_TORCH
  return CudaAddresses();
#else
  return {};
#endif
}

std::string PassedOver() {
#ifdef MPSD_WITH_TORCH
  return DevicePassedOver();
#else
  return "";
#endif
}

absl::StatusOr<FolderPlan> PlanOfFolder(const std::string& path) { return ReadPlan(path); }

std::string RuntimeName() {
#ifdef MPSD_WITH_TORCH
  return TorchRuntimeName();
#else
  return "synthetic";
#endif
}

}  // namespace mpsd
