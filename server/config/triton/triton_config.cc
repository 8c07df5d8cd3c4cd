#include "server/config/triton/triton_config.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/json_util.h"
#include "nlohmann/json.hpp"
#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "proto/base/reshape.h"
#include "proto/model_config.pb.h"
#include "server/config/config_values.h"
#include "server/config/triton/triton_sequences.h"
#include "server/config/triton/triton_steps.h"
#include "server/config/triton/triton_types.h"
#include "server/request/device_list.h"

namespace mpsd {
namespace {

namespace pb = inference;

constexpr size_t kMaxTextBytes = 1 << 20;

absl::Status Refused(absl::string_view key, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("'", key, "' ", why));
}

absl::Status NotSupported(absl::string_view key) { return Refused(key, "is not supported"); }

// Once for each key.
void Ignore(bool is_there, const std::string& key, TritonNotes* notes) {
  const auto& ignored = notes->ignored;
  if (!is_there || std::find(ignored.begin(), ignored.end(), key) != ignored.end()) return;
  notes->ignored.push_back(key);
}

// Without these features answers would differ.
absl::Status RefuseWhatIsNotDone(const pb::ModelConfig& triton) {
  const std::pair<bool, const char*> keys[] = {
      {triton.cc_model_filenames_size() > 0, "cc_model_filenames"},
      {triton.has_model_operations(), "model_operations"},
      {triton.batch_input_size() > 0, "batch_input"},
      {triton.batch_output_size() > 0, "batch_output"},
      {triton.model_repository_agents().agents_size() > 0, "model_repository_agents"},
  };
  for (const auto& [is_there, key] : keys) {
    if (is_there) return NotSupported(key);
  }
  return absl::OkStatus();
}

void NoteWhatIsIgnored(const pb::ModelConfig& triton, TritonNotes* notes) {
  const pb::ModelDynamicBatching& batching = triton.dynamic_batching();
  const bool has_levels = batching.priority_levels() > 0;
  const std::pair<bool, const char*> keys[] = {
      {triton.has_optimization(), "optimization"},
      {triton.metric_tags_size() > 0, "metric_tags"},
      {triton.has_model_metrics(), "model_metrics"},
      {!triton.runtime().empty(), "runtime"},
      {batching.preserve_ordering(), "dynamic_batching.preserve_ordering"},
      {!has_levels && batching.default_priority_level() > 0,
       "dynamic_batching.default_priority_level"},
      {!has_levels && batching.priority_queue_policy_size() > 0,
       "dynamic_batching.priority_queue_policy"},
  };
  for (const auto& [is_there, key] : keys) Ignore(is_there, key, notes);
  Ignore(triton.ensemble_scheduling().max_inflight_requests() > 0,
         "ensemble_scheduling.max_inflight_requests", notes);
}

absl::Status CheckName(const pb::ModelConfig& triton, const ModelConfig& model) {
  if (triton.name().empty() || triton.name() == model.name) return absl::OkStatus();
  return Refused("name", absl::StrCat("is '", triton.name(), "', not '", model.name, "'"));
}

absl::Status ApplySource(const pb::ModelConfig& triton, ModelConfig* model, TritonNotes* notes) {
  const std::string& platform = triton.platform();
  const std::string& backend = triton.backend();
  // mpsd's ModelConfig method gives "synthetic"; Triton has no such backend.
  if (backend == "identity" || backend == "repeat" || backend == "synthetic") {
    model->format = ModelFormat::kSynthetic;
    if (backend == "repeat") model->parameters["repeat"] = "true";
  } else if (!backend.empty() && backend != "pytorch" && backend != "torch_aoti") {
    return Refused("backend", absl::StrCat("is '", backend, "', which is not supported"));
  }
  if (!platform.empty() && platform != "pytorch_libtorch" && platform != "torch_aoti" &&
      platform != "synthetic") {
    return Refused("platform", absl::StrCat("is '", platform, "', which is not supported"));
  }
  if (platform == "torch_aoti" || backend == "torch_aoti") model->format = ModelFormat::kAoti;
  notes->file_name = triton.default_model_filename();
  if (notes->file_name.find_first_of("/\\") != std::string::npos || notes->file_name == "..") {
    return Refused("default_model_filename", "must be the name of a file, not a path");
  }
  return absl::OkStatus();
}

template <typename Tensor>
absl::Status ReadTensor(const std::string& key, const Tensor& tensor,
                        std::vector<TensorSpec>* specs) {
  if (tensor.is_shape_tensor()) return NotSupported(key + ".is_shape_tensor");
  // Its elements have another order.
  if (tensor.is_non_linear_format_io()) return NotSupported(key + ".is_non_linear_format_io");
  TensorSpec spec;
  spec.name = tensor.name();
  spec.datatype = DataTypeOf(tensor.data_type());
  spec.dims.assign(tensor.dims().begin(), tensor.dims().end());
  if (spec.datatype == DataType::kInvalid) return Refused(key + ".data_type", "must be given");
  if (tensor.has_reshape()) {
    spec.client_dims = std::exchange(
        spec.dims, Dims(tensor.reshape().shape().begin(), tensor.reshape().shape().end()));
    const std::string fault = ReshapeFault(*spec.client_dims, spec.dims);
    if (!fault.empty()) return Refused(key + ".reshape", absl::StrCat("is wrong: ", fault));
  }
  specs->push_back(std::move(spec));
  return absl::OkStatus();
}

absl::Status ApplyFormat(const pb::ModelInput& input, ModelConfig* model) {
  if (input.format() == pb::ModelInput::FORMAT_NONE) return absl::OkStatus();
  if (input.dims_size() != 3) return Refused("input.format", "is for an input of 3 dims");
  model->input_formats[input.name()] = pb::ModelInput::Format_Name(input.format());
  return absl::OkStatus();
}

// Keeps the lines of an unchanged file.
absl::Status ApplyLabels(const pb::ModelConfig& triton, ModelConfig* model) {
  std::map<std::string, std::string> files;
  for (const pb::ModelOutput& output : triton.output()) {
    const std::string& file = output.label_filename();
    if (file.empty()) continue;
    if (file.find_first_of("/\\") != std::string::npos || file == "..") {
      return Refused("output.label_filename", "must be the name of a file, not a path");
    }
    files[output.name()] = file;
  }
  std::erase_if(model->labels, [&](const auto& labels) {
    const auto file = files.find(labels.first);
    return file == files.end() || file->second != model->label_files[labels.first];
  });
  model->label_files = std::move(files);
  return absl::OkStatus();
}

absl::Status ApplyTensors(const pb::ModelConfig& triton, ModelConfig* model) {
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  if (triton.input_size() > 0) model->input_formats.clear();
  for (const pb::ModelInput& input : triton.input()) {
    if (absl::Status status = ApplyFormat(input, model); !status.ok()) return status;
    if (input.allow_ragged_batch()) return NotSupported("input.allow_ragged_batch");
    if (absl::Status status = ReadTensor("input", input, &inputs); !status.ok()) return status;
    inputs.back().optional = input.optional();
  }
  for (const pb::ModelOutput& output : triton.output()) {
    if (absl::Status status = ReadTensor("output", output, &outputs); !status.ok()) return status;
  }
  const ModelSpec before = model->spec;
  if (!inputs.empty()) model->spec.inputs = std::move(inputs);
  if (!outputs.empty()) {
    model->spec.outputs = std::move(outputs);
    if (absl::Status status = ApplyLabels(triton, model); !status.ok()) return status;
  }
  const bool keeps_sequences = model->sequences.has_value() && !triton.has_sequence_batching();
  if (keeps_sequences) KeepSequenceTensors(*model->sequences, before, &model->spec);
  if (triton.max_batch_size() < 0 ||
      triton.max_batch_size() > static_cast<int32_t>(kMaxBatchRows)) {
    return Refused("max_batch_size", absl::StrCat("must be 0 to ", kMaxBatchRows));
  }
  if (triton.max_batch_size() > 0) {
    model->spec.max_batch_size = static_cast<uint32_t>(triton.max_batch_size());
  }
  if (triton.has_model_transaction_policy()) {
    model->spec.decoupled = triton.model_transaction_policy().decoupled();
  }
  // Reading the JSON back checks the spec by a config's rules.
  return ModelSpecFromJson(ToJson(model->spec)).status();
}

// Devices that each get the group's instances; empty if it does not say.
absl::StatusOr<std::vector<std::string>> DevicesOf(const pb::ModelInstanceGroup& group) {
  std::vector<std::string> devices;
  for (const int32_t gpu : group.gpus()) {
    if (gpu < 0) return Refused("instance_group.gpus", "must not be negative");
    if (gpu > static_cast<int32_t>(kMaxDeviceIndex)) {
      return Refused("instance_group.gpus", absl::StrCat("must be at most ", kMaxDeviceIndex));
    }
    devices.push_back(absl::StrCat("cuda:", gpu));
  }
  switch (group.kind()) {
    case pb::ModelInstanceGroup::KIND_AUTO:
      if (devices.empty()) devices.emplace_back();
      return devices;
    case pb::ModelInstanceGroup::KIND_GPU:
      if (devices.empty()) devices.emplace_back(kAllCudaDevices);
      return devices;
    case pb::ModelInstanceGroup::KIND_CPU:
      if (!devices.empty()) return Refused("instance_group.gpus", "is there beside KIND_CPU");
      return std::vector<std::string>{"cpu"};
    case pb::ModelInstanceGroup::KIND_MODEL:
      return Refused("instance_group.kind", "is KIND_MODEL, which is not supported");
    default:
      return NotSupported("instance_group.kind");
  }
}

// mpsd follows none of the keys about single instances.
absl::Status CheckGroup(const pb::ModelInstanceGroup& group, TritonNotes* notes) {
  if (group.passive()) return NotSupported("instance_group.passive");
  if (group.secondary_devices_size() > 0) return NotSupported("instance_group.secondary_devices");
  if (group.count() < 0) return Refused("instance_group.count", "must not be negative");
  Ignore(!group.name().empty(), "instance_group.name", notes);
  Ignore(group.profile_size() > 0, "instance_group.profile", notes);
  Ignore(!group.host_policy().empty(), "instance_group.host_policy", notes);
  return absl::OkStatus();
}

LaneNeeds RateLimitOf(const pb::ModelRateLimiter& limiter) {
  LaneNeeds needs;
  needs.priority = std::max(1U, limiter.priority());
  for (const pb::ModelRateLimiter::Resource& resource : limiter.resources()) {
    if (resource.count() == 0) continue;
    needs.resources.push_back({resource.name(), resource.count(), resource.global()});
  }
  return needs;
}

absl::Status CheckRateLimit(const LaneNeeds& needs) {
  constexpr absl::string_view kKey = "instance_group.rate_limiter";
  if (needs.resources.size() > kMaxNeeds) {
    return Refused(kKey, absl::StrCat("may have at most ", kMaxNeeds, " resources"));
  }
  if (needs.priority > kMaxTurnWeight) {
    return Refused(kKey, absl::StrCat("may have a priority of at most ", kMaxTurnWeight));
  }
  std::set<std::string> names;
  for (const ResourceNeed& need : needs.resources) {
    const std::string fault = ServableNameFault(need.name);
    if (!fault.empty()) return Refused(kKey, absl::StrCat("has a resource whose name ", fault));
    if (!names.insert(need.name).second) {
      return Refused(kKey, absl::StrCat("has '", need.name, "' twice"));
    }
    if (need.count > kMaxResourceCount) {
      return Refused(kKey, absl::StrCat("may count to ", kMaxResourceCount, " at most"));
    }
  }
  return absl::OkStatus();
}

// A model's lanes are alike, so the groups need the same resources.
absl::Status ApplyRateLimit(const pb::ModelConfig& triton, ModelConfig* model) {
  if (triton.instance_group_size() == 0) return absl::OkStatus();
  const LaneNeeds needs = RateLimitOf(triton.instance_group(0).rate_limiter());
  for (const pb::ModelInstanceGroup& group : triton.instance_group()) {
    if (RateLimitOf(group.rate_limiter()) == needs) continue;
    return Refused("instance_group.rate_limiter", "must be the same in all groups");
  }
  model->lane_needs = needs;
  return CheckRateLimit(needs);
}

struct Instances {
  std::vector<std::string> devices;
  std::vector<int64_t> counts;  // by device

  bool is_even() const {
    return std::adjacent_find(counts.begin(), counts.end(), std::not_equal_to<>()) == counts.end();
  }
};

// Adds up the instances on each device. Lists devices only if all groups name theirs.
absl::StatusOr<Instances> InstancesOf(const pb::ModelConfig& triton, TritonNotes* notes) {
  Instances all;
  bool one_kind = true;
  for (const pb::ModelInstanceGroup& group : triton.instance_group()) {
    if (absl::Status status = CheckGroup(group, notes); !status.ok()) return status;
    absl::StatusOr<std::vector<std::string>> devices = DevicesOf(group);
    if (!devices.ok()) return devices.status();
    for (std::string& device : *devices) {
      const auto found = std::find(all.devices.begin(), all.devices.end(), device);
      const auto at = static_cast<size_t>(found - all.devices.begin());
      if (found == all.devices.end()) {
        all.devices.push_back(std::move(device));
        all.counts.push_back(0);
      }
      all.counts[at] += std::max(1, group.count());
    }
    one_kind = one_kind && group.kind() == triton.instance_group(0).kind();
  }
  const bool is_list =
      std::all_of(all.devices.begin(), all.devices.end(), [](const std::string& device) {
        return device != kAllCudaDevices && absl::StartsWith(device, "cuda:");
      });
  if (all.devices.size() > 1 && !is_list) {
    return Refused(one_kind ? "instance_group.gpus" : "instance_group.kind",
                   "must be the same in all groups");
  }
  if (all.devices.size() > kMaxWorkers) {
    return Refused("instance_group.gpus", absl::StrCat("may name at most ", kMaxWorkers));
  }
  return all;
}

// Whether mpsd's ModelConfig method gives `instances` for the placement: a client may send them
// back.
bool AreOf(const Instances& instances, const PlacementConfig& placement) {
  const auto devices = static_cast<uint32_t>(instances.devices.size());
  for (uint32_t i = 0; i < devices; ++i) {
    const uint32_t processes =
        placement.processes / devices + (i < placement.processes % devices ? 1 : 0);
    if (instances.counts[i] != int64_t{processes} * placement.lanes) return false;
  }
  return true;
}

// A model's lanes are alike, so each device has the same number.
absl::Status ApplyInstances(const pb::ModelConfig& triton, ModelConfig* model, TritonNotes* notes) {
  const absl::StatusOr<Instances> instances = InstancesOf(triton, notes);
  if (!instances.ok()) return instances.status();
  if (instances->devices.empty()) return absl::OkStatus();
  const std::string device = DeviceListText(instances->devices);
  if (!device.empty()) model->device = device;
  if (AreOf(*instances, model->placement)) return absl::OkStatus();
  const int64_t count = instances->counts.front();
  if (count > kMaxLanes) {
    return Refused("instance_group.count", absl::StrCat("must be at most ", kMaxLanes));
  }
  if (!instances->is_even()) {
    return Refused("instance_group.count", "must be the same on all gpus");
  }
  model->placement.lanes = static_cast<uint32_t>(count);
  const bool are_several = instances->devices.size() > 1 || device == kAllCudaDevices;
  if (are_several) model->placement.processes = 0;  // each device then has one
  return absl::OkStatus();
}

// Replaces keys of `level`. Triton's 0 is "no bound"; here it means the default, since requests are
// always bounded.
absl::Status ApplyPolicy(const std::string& key, const pb::ModelQueuePolicy& policy,
                         QueuePolicy* level) {
  if (policy.default_timeout_microseconds() > uint64_t{kMaxQueueTimeoutNs / kNsPerUs}) {
    return Refused(key + ".default_timeout_microseconds", "must be at most a day");
  }
  if (policy.max_queue_size() > kMaxQueueRequests) {
    return Refused(key + ".max_queue_size", absl::StrCat("must be at most ", kMaxQueueRequests));
  }
  if (policy.max_queue_size() > 0) level->requests = policy.max_queue_size();
  if (policy.default_timeout_microseconds() > 0) {
    level->timeout_ns = static_cast<int64_t>(policy.default_timeout_microseconds()) * kNsPerUs;
    level->timeout_action = TimeoutAction::kReject;
    level->allow_timeout_override = policy.allow_timeout_override();
  }
  if (policy.timeout_action() == pb::ModelQueuePolicy::DELAY) {
    level->timeout_action = TimeoutAction::kDelay;
  }
  return absl::OkStatus();
}

absl::Status ApplyLevels(const pb::ModelDynamicBatching& batching, QueuePolicies* queue) {
  const uint64_t levels = batching.priority_levels();
  if (levels > kMaxPriorityLevels) {
    return Refused("dynamic_batching.priority_levels",
                   absl::StrCat("must be at most ", kMaxPriorityLevels));
  }
  if (batching.default_priority_level() < 1 || batching.default_priority_level() > levels) {
    return Refused("dynamic_batching.default_priority_level",
                   absl::StrCat("must be 1 to ", levels));
  }
  queue->default_level = static_cast<uint32_t>(batching.default_priority_level() - 1);
  queue->levels.assign(levels, QueuePolicy());
  for (const auto& [number, policy] : batching.priority_queue_policy()) {
    if (number >= 1 && number <= levels) continue;
    return Refused("dynamic_batching.priority_queue_policy",
                   absl::StrCat("must have a level from 1 to ", levels, ", not ", number));
  }
  for (uint64_t number = 1; number <= levels; ++number) {
    const auto own = batching.priority_queue_policy().find(number);
    const bool has_own = own != batching.priority_queue_policy().end();
    const absl::Status status = ApplyPolicy(
        has_own ? absl::StrCat("dynamic_batching.priority_queue_policy[", number, "]")
                : "dynamic_batching.default_queue_policy",
        has_own ? own->second : batching.default_queue_policy(), &queue->levels[number - 1]);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status ApplyPreferredSizes(const pb::ModelDynamicBatching& batching, ModelConfig* model) {
  if (batching.preferred_batch_size_size() == 0) return absl::OkStatus();
  const char* const key = "dynamic_batching.preferred_batch_size";
  if (batching.preferred_batch_size_size() > static_cast<int>(kMaxPreferredSizes)) {
    return Refused(key, absl::StrCat("must have at most ", kMaxPreferredSizes, " sizes"));
  }
  const uint32_t most = model->spec.max_batch_size > 0 ? model->spec.max_batch_size : kMaxBatchRows;
  std::vector<uint32_t> sizes;
  for (const int32_t size : batching.preferred_batch_size()) {
    if (size < 1 || size > static_cast<int64_t>(most)) {
      return Refused(key, absl::StrCat("must be 1 to ", most, ", not ", size));
    }
    sizes.push_back(static_cast<uint32_t>(size));
  }
  absl::c_sort(sizes);
  model->batching.preferred_sizes = std::move(sizes);
  return absl::OkStatus();
}

absl::Status ApplyBatching(const pb::ModelDynamicBatching& batching, ModelConfig* model) {
  const uint64_t delay_us = batching.max_queue_delay_microseconds();
  if (delay_us > 10'000'000) {
    return Refused("dynamic_batching.max_queue_delay_microseconds", "must be at most 10 s");
  }
  if (delay_us > 0) model->batching.max_delay_ns = static_cast<int64_t>(delay_us) * 1000;
  const absl::Status sizes = ApplyPreferredSizes(batching, model);
  if (!sizes.ok()) return sizes;
  if (batching.priority_levels() > 0) return ApplyLevels(batching, &model->queue);
  for (QueuePolicy& level : model->queue.levels) {
    const absl::Status status = ApplyPolicy("dynamic_batching.default_queue_policy",
                                            batching.default_queue_policy(), &level);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

void ApplyVersions(const pb::ModelVersionPolicy& policy, VersionPolicy* versions) {
  if (policy.has_all()) versions->latest = 0;
  if (policy.has_latest()) versions->latest = std::max(1U, policy.latest().num_versions());
  if (policy.has_specific()) {
    versions->latest = 0;
    versions->specific.assign(policy.specific().versions().begin(),
                              policy.specific().versions().end());
  }
}

// Triton's identity backend names them differently.
void ApplySyntheticParameter(const std::string& key, const std::string& text, ModelConfig* model) {
  if (key == "execute_delay_ms") {
    model->parameters["delay"] = absl::StrCat(text, "ms");
  } else if (key == "creation_delay_sec") {
    model->parameters["load_delay"] = absl::StrCat(text, "s");
  } else if (key == "instance_wise_delay_multiplier") {
    // An instance is a lane here; both count from 0.
    model->parameters["lane_delay_factor"] = text;
  } else {
    model->parameters[key] = text;
  }
}

// Triton's PyTorch backend tells libtorch these. One has a counterpart: inference mode is always
// on. The others change no answer.
bool IsRuntimeSwitch(absl::string_view key) {
  static constexpr absl::string_view kSwitches[] = {
      "INFERENCE_MODE",       "DISABLE_OPTIMIZED_EXECUTION", "DISABLE_CUDNN",
      "ENABLE_NVFUSER",       "ENABLE_WEIGHT_SHARING",       "ENABLE_CACHE_CLEANING",
      "ENABLE_TENSOR_FUSER",  "ENABLE_JIT_PROFILING",        "ENABLE_JIT_EXECUTOR",
      "INTER_OP_THREAD_COUNT"};
  return absl::c_linear_search(kSwitches, key);
}

absl::Status ApplyThreads(const std::string& text, PlacementConfig* placement) {
  uint32_t threads = 0;
  if (!absl::SimpleAtoi(text, &threads) || threads == 0 || threads > kMaxThreads) {
    return Refused("parameters.INTRA_OP_THREAD_COUNT", absl::StrCat("must be 1 to ", kMaxThreads));
  }
  placement->threads = threads;
  return absl::OkStatus();
}

// All are kept, since clients may read them.
absl::Status ApplyParameters(const pb::ModelConfig& triton, ModelConfig* model,
                             TritonNotes* notes) {
  for (const auto& [key, value] : triton.parameters()) {
    const std::string& text = value.string_value();
    if (model->format == ModelFormat::kSynthetic) {
      ApplySyntheticParameter(key, text, model);
      continue;
    }
    model->parameters[key] = text;
    const bool is_done = key == "INFERENCE_MODE" && text == "true";
    Ignore(IsRuntimeSwitch(key) && !is_done, absl::StrCat("parameters.", key), notes);
    if (key != "INTRA_OP_THREAD_COUNT") continue;
    if (absl::Status status = ApplyThreads(text, &model->placement); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// No path: the file lies in the model's folder `warmup`, and errors name it.
bool IsPlainName(const std::string& name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of("/\\") == std::string::npos &&
         std::all_of(name.begin(), name.end(), absl::ascii_isprint);
}

absl::Status ReadSample(const pb::ModelWarmup& warmup, WarmUpSample* sample,
                        std::vector<std::string>* files) {
  const uint32_t runs = std::max(1U, warmup.count());
  if (runs > kMaxWarmUpRuns) {
    return Refused("model_warmup.count", absl::StrCat("must be at most ", kMaxWarmUpRuns));
  }
  sample->rows = std::max(1U, warmup.batch_size());
  sample->runs = runs;
  const std::map<std::string, pb::ModelWarmup::Input> sorted(warmup.inputs().begin(),
                                                             warmup.inputs().end());
  for (const auto& [name, source] : sorted) {
    WarmUpInput& input = sample->inputs.emplace_back();
    input.name = name;
    input.datatype = DataTypeOf(source.data_type());
    input.dims.assign(source.dims().begin(), source.dims().end());
    const bool open =
        std::any_of(input.dims.begin(), input.dims.end(), [](int64_t dim) { return dim < 0; });
    if (open) return Refused("model_warmup.inputs.dims", "must not be negative");
    if (input.datatype == DataType::kInvalid) {
      return Refused("model_warmup.inputs.data_type", "must be given");
    }
    if (source.random_data()) input.fill = WarmUpFill::kRandom;
    if (source.has_input_data_file()) input.fill = WarmUpFill::kData;
    if (source.has_input_data_file() && !IsPlainName(source.input_data_file())) {
      return Refused("model_warmup.inputs.input_data_file",
                     "must be the name of a file, not a path");
    }
    files->push_back(source.input_data_file());
  }
  return absl::OkStatus();
}

absl::Status ApplyWarmUp(const pb::ModelConfig& triton, ModelConfig* model, TritonNotes* notes) {
  if (triton.model_warmup_size() == 0) return absl::OkStatus();
  if (triton.model_warmup_size() > static_cast<int>(kMaxWarmUpSamples)) {
    return Refused("model_warmup", absl::StrCat("has more than ", kMaxWarmUpSamples, " samples"));
  }
  model->warmup_samples.clear();
  notes->data_files.clear();
  for (const pb::ModelWarmup& warmup : triton.model_warmup()) {
    absl::Status status = ReadSample(warmup, &model->warmup_samples.emplace_back(),
                                     &notes->data_files.emplace_back());
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// If the config says who gets kept answers, that stays.
absl::Status ApplyResponseCache(const pb::ModelConfig& triton, ModelConfig* model) {
  const bool is_on = model->response_cache != CacheScope::kOff;
  const bool is_wanted = triton.has_response_cache() ? triton.response_cache().enable() : is_on;
  if (is_wanted && model->spec.decoupled) {
    return Refused("response_cache.enable", "is there beside a decoupled model");
  }
  if (is_wanted != is_on) {
    model->response_cache = is_wanted ? CacheScope::kTenant : CacheScope::kOff;
  }
  return absl::OkStatus();
}

bool NamesDataFiles(const TritonNotes& notes) {
  const auto names = [](const std::vector<std::string>& files) {
    return std::any_of(files.begin(), files.end(),
                       [](const std::string& file) { return !file.empty(); });
  };
  return std::any_of(notes.data_files.begin(), notes.data_files.end(), names);
}

// A model of steps has no workers, so the other keys do not apply.
absl::Status ApplyWhole(const pb::ModelConfig& triton, ModelConfig* model, TritonNotes* notes) {
  absl::Status status = ApplyTensors(triton, model);
  if (status.ok()) status = ApplySteps(triton, model);
  if (!status.ok()) return status;
  for (const auto& [key, value] : triton.parameters()) {
    model->parameters[key] = value.string_value();
  }
  ApplyVersions(triton.version_policy(), &notes->versions);
  NoteWhatIsIgnored(triton, notes);
  return absl::OkStatus();
}

absl::Status Apply(const pb::ModelConfig& triton, ModelConfig* model, TritonNotes* notes) {
  absl::Status status = RefuseWhatIsNotDone(triton);
  if (status.ok()) status = CheckName(triton, *model);
  if (status.ok() && IsOfSteps(triton, *model)) return ApplyWhole(triton, model, notes);
  if (status.ok()) status = ApplySource(triton, model, notes);
  if (status.ok()) status = ApplyTensors(triton, model);
  if (status.ok()) status = ApplyInstances(triton, model, notes);
  if (status.ok()) status = ApplyRateLimit(triton, model);
  if (status.ok()) status = ApplyBatching(triton.dynamic_batching(), model);
  if (status.ok()) status = ApplyParameters(triton, model, notes);
  if (status.ok()) status = ApplyWarmUp(triton, model, notes);
  if (status.ok()) status = ApplyResponseCache(triton, model);
  if (status.ok()) status = ApplySequences(triton, model, &notes->ignored);
  if (!status.ok()) return status;
  ApplyVersions(triton.version_policy(), &notes->versions);
  NoteWhatIsIgnored(triton, notes);
  return absl::OkStatus();
}

// The protobuf message does not tell 0 from an absent key.
bool SaysMaxBatchSize(const std::string& json) {
  const nlohmann::json object = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  return object.contains("max_batch_size") || object.contains("maxBatchSize");
}

// A file may have any bytes, but the text goes into UTF-8 messages.
absl::Status Readable(const absl::Status& status) {
  std::string text;
  for (const char& c : status.message()) {
    const absl::string_view byte(&c, 1);
    absl::StrAppend(&text, absl::ascii_isascii(c) ? std::string(byte) : absl::CEscape(byte));
  }
  return absl::Status(status.code(), text);
}

// Keeps the first. The protobuf version decides which function overrides the base's.
// Thread-compatible.
class FirstError final : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) {
    RecordError(line, column, message);
  }
  void RecordError(int line, int /*column*/, absl::string_view message) {
    if (text.empty()) text = absl::StrCat("line ", line + 1, ": ", message);
  }

  std::string text;
};

}  // namespace

absl::Status ApplyTritonJson(const std::string& json, ModelConfig* model, TritonNotes* notes) {
  if (json.size() > kMaxTextBytes) return absl::InvalidArgumentError("the config is too large");
  pb::ModelConfig triton;
  const auto parsed = google::protobuf::util::JsonStringToMessage(json, &triton);
  if (!parsed.ok()) {
    return Readable(absl::InvalidArgumentError(
        absl::StrCat("the config is no model configuration: ", std::string(parsed.message()))));
  }
  if (triton.max_batch_size() == 0 && SaysMaxBatchSize(json)) model->spec.max_batch_size = 0;
  if (absl::Status status = Apply(triton, model, notes); !status.ok()) return Readable(status);
  if (NamesDataFiles(*notes)) return NotSupported("model_warmup.inputs.input_data_file");
  // A load says how versions run, the folder which ones there are. Files of labels were read with
  // config.pbtxt.
  const size_t unread = std::erase_if(model->label_files, [model](const auto& file) {
    return model->labels.count(file.first) == 0;
  });
  Ignore(unread > 0, "output.label_filename", notes);
  Ignore(triton.has_version_policy(), "version_policy", notes);
  Ignore(!triton.default_model_filename().empty(), "default_model_filename", notes);
  return absl::OkStatus();
}

namespace {

// Escapes in a text may stand for any bytes, which no client could read.
bool HoldsOnlyUtf8(const pb::ModelConfig& triton) {
  pb::ModelConfig again;
  return again.ParseFromString(triton.SerializeAsString());
}

}  // namespace

absl::Status ApplyTritonText(const std::string& text, ModelConfig* model, TritonNotes* notes) {
  if (text.size() > kMaxTextBytes) return absl::InvalidArgumentError("config.pbtxt is too large");
  pb::ModelConfig triton;
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  if (!parser.ParseFromString(text, &triton)) {
    return Readable(absl::InvalidArgumentError(absl::StrCat("config.pbtxt: ", error.text)));
  }
  if (!HoldsOnlyUtf8(triton)) {
    return absl::InvalidArgumentError("config.pbtxt has a text that is not UTF-8");
  }
  return Readable(Apply(triton, model, notes));
}

}  // namespace mpsd
