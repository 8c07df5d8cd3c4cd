#include "server/repository/triton_config.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/json_util.h"
#include "nlohmann/json.hpp"
#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "proto/model_config.pb.h"

namespace mpsd {
namespace {

namespace pb = inference;

constexpr size_t kMaxTextBytes = 1 << 20;

absl::Status Refused(absl::string_view key, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("'", key, "' ", why));
}

// Refuses keys that ask for what mpsd does not do; silence would be an answer of another kind than
// the one that was asked for.
absl::Status RefuseWhatIsNotDone(const pb::ModelConfig& triton) {
  const std::pair<bool, const char*> keys[] = {
      {triton.has_sequence_batching(), "sequence_batching"},
      {triton.has_ensemble_scheduling(), "ensemble_scheduling"},
      {triton.cc_model_filenames_size() > 0, "cc_model_filenames"},
      {triton.has_model_operations(), "model_operations"},
      {triton.batch_input_size() > 0, "batch_input"},
      {triton.batch_output_size() > 0, "batch_output"},
      {triton.model_repository_agents().agents_size() > 0, "model_repository_agents"},
      {triton.response_cache().enable(), "response_cache.enable"},
  };
  for (const auto& [is_there, key] : keys) {
    if (is_there) return Refused(key, "is not supported");
  }
  return absl::OkStatus();
}

void NoteWhatIsIgnored(const pb::ModelConfig& triton, TritonNotes* notes) {
  const pb::ModelDynamicBatching& batching = triton.dynamic_batching();
  const std::pair<bool, const char*> keys[] = {
      {triton.has_optimization(), "optimization"},
      {triton.model_warmup_size() > 0, "model_warmup"},
      {triton.metric_tags_size() > 0, "metric_tags"},
      {triton.has_model_metrics(), "model_metrics"},
      {!triton.runtime().empty(), "runtime"},
      {batching.preferred_batch_size_size() > 0, "dynamic_batching.preferred_batch_size"},
      {batching.preserve_ordering(), "dynamic_batching.preserve_ordering"},
      {batching.default_priority_level() > 0, "dynamic_batching.default_priority_level"},
  };
  for (const auto& [is_there, key] : keys) {
    if (is_there) notes->ignored.emplace_back(key);
  }
}

absl::Status ApplySource(const pb::ModelConfig& triton, ModelConfig* model, TritonNotes* notes) {
  if (!triton.name().empty() && triton.name() != model->name) {
    return Refused("name", absl::StrCat("is '", triton.name(), "', not '", model->name, "'"));
  }
  const std::string& platform = triton.platform();
  const std::string& backend = triton.backend();
  if (backend == "identity" || backend == "repeat") {
    model->format = ModelFormat::kSynthetic;
    if (backend == "repeat") model->parameters["repeat"] = "true";
  } else if (!backend.empty() && backend != "pytorch" && backend != "torch_aoti") {
    return Refused("backend", absl::StrCat("is '", backend, "', which is not supported"));
  }
  if (!platform.empty() && platform != "pytorch_libtorch" && platform != "torch_aoti") {
    return Refused("platform", absl::StrCat("is '", platform, "', which is not supported"));
  }
  if (platform == "torch_aoti" || backend == "torch_aoti") model->format = ModelFormat::kAoti;
  notes->file_name = triton.default_model_filename();
  if (notes->file_name.find_first_of("/\\") != std::string::npos || notes->file_name == "..") {
    return Refused("default_model_filename", "must be the name of a file, not a path");
  }
  return absl::OkStatus();
}

DataType DataTypeOf(pb::DataType type) {
  if (type == pb::TYPE_STRING) return DataType::kBytes;
  const std::string& name = pb::DataType_Name(type);  // "TYPE_FP32"
  return ParseDataType(absl::string_view(name).substr(5));
}

template <typename Tensor>
absl::Status ReadTensor(const std::string& key, const Tensor& tensor,
                        std::vector<TensorSpec>* specs) {
  if (tensor.has_reshape()) return Refused(key + ".reshape", "is not supported");
  if (tensor.is_shape_tensor()) return Refused(key + ".is_shape_tensor", "is not supported");
  TensorSpec spec;
  spec.name = tensor.name();
  spec.datatype = DataTypeOf(tensor.data_type());
  spec.dims.assign(tensor.dims().begin(), tensor.dims().end());
  if (spec.datatype == DataType::kInvalid) return Refused(key + ".data_type", "must be given");
  specs->push_back(std::move(spec));
  return absl::OkStatus();
}

absl::Status ApplyTensors(const pb::ModelConfig& triton, ModelConfig* model, TritonNotes* notes) {
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  for (const pb::ModelInput& input : triton.input()) {
    if (input.format() != pb::ModelInput::FORMAT_NONE) notes->ignored.emplace_back("input.format");
    if (input.optional()) return Refused("input.optional", "is not supported");
    if (input.allow_ragged_batch()) return Refused("input.allow_ragged_batch", "is not supported");
    if (absl::Status status = ReadTensor("input", input, &inputs); !status.ok()) return status;
  }
  for (const pb::ModelOutput& output : triton.output()) {
    if (!output.label_filename().empty()) notes->ignored.emplace_back("output.label_filename");
    if (absl::Status status = ReadTensor("output", output, &outputs); !status.ok()) return status;
  }
  if (!inputs.empty()) model->spec.inputs = std::move(inputs);
  if (!outputs.empty()) model->spec.outputs = std::move(outputs);
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
  // Reading the JSON form back holds it to every rule that a config's is held to.
  return ModelSpecFromJson(ToJson(model->spec)).status();
}

absl::Status ApplyInstances(const pb::ModelConfig& triton, ModelConfig* model, TritonNotes* notes) {
  int64_t count = 0;
  for (const pb::ModelInstanceGroup& group : triton.instance_group()) {
    if (group.passive()) return Refused("instance_group.passive", "is not supported");
    if (group.gpus_size() > 1) return Refused("instance_group.gpus", "may name one device only");
    if (group.kind() == pb::ModelInstanceGroup::KIND_MODEL) {
      return Refused("instance_group.kind", "is KIND_MODEL, which is not supported");
    }
    if (group.kind() == pb::ModelInstanceGroup::KIND_CPU) model->device = "cpu";
    if (group.kind() == pb::ModelInstanceGroup::KIND_GPU) {
      model->device = group.gpus_size() > 0 ? absl::StrCat("cuda:", group.gpus(0)) : "cuda";
    }
    if (group.has_rate_limiter()) notes->ignored.emplace_back("instance_group.rate_limiter");
    count += std::max(1, group.count());
  }
  if (count > kMaxLanes) {
    return Refused("instance_group.count", absl::StrCat("must be at most ", kMaxLanes));
  }
  if (count > 0) model->placement.lanes = static_cast<uint32_t>(count);
  return absl::OkStatus();
}

absl::Status ApplyBatching(const pb::ModelDynamicBatching& batching, ModelConfig* model) {
  const pb::ModelQueuePolicy& queue = batching.default_queue_policy();
  if (batching.priority_levels() > 0 || batching.priority_queue_policy_size() > 0) {
    return Refused("dynamic_batching.priority_levels", "is not supported");
  }
  if (queue.default_timeout_microseconds() > 0 || queue.allow_timeout_override()) {
    return Refused("dynamic_batching.default_queue_policy", "may have a max_queue_size only");
  }
  const uint64_t delay_us = batching.max_queue_delay_microseconds();
  if (delay_us > 10'000'000) {
    return Refused("dynamic_batching.max_queue_delay_microseconds", "must be at most 10 s");
  }
  if (delay_us > 0) model->batching.max_delay_ns = static_cast<int64_t>(delay_us) * 1000;
  if (queue.max_queue_size() > 0) model->queue_requests = queue.max_queue_size();
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

// Triton's identity backend says in its own words what our synthetic format does.
void ApplyParameters(const pb::ModelConfig& triton, ModelConfig* model) {
  for (const auto& [key, value] : triton.parameters()) {
    if (model->format != ModelFormat::kSynthetic) {
      model->parameters[key] = value.string_value();
    } else if (key == "execute_delay_ms") {
      model->parameters["delay"] = absl::StrCat(value.string_value(), "ms");
    } else if (key == "creation_delay_sec") {
      model->parameters["load_delay"] = absl::StrCat(value.string_value(), "s");
    } else if (key == "instance_wise_delay_multiplier") {
      // Instances are lanes here; both count from 0.
      model->parameters["lane_delay_factor"] = value.string_value();
    } else {
      model->parameters[key] = value.string_value();
    }
  }
}

absl::Status Apply(const pb::ModelConfig& triton, ModelConfig* model, TritonNotes* notes) {
  absl::Status status = RefuseWhatIsNotDone(triton);
  if (status.ok()) status = ApplySource(triton, model, notes);
  if (status.ok()) status = ApplyTensors(triton, model, notes);
  if (status.ok()) status = ApplyInstances(triton, model, notes);
  if (status.ok()) status = ApplyBatching(triton.dynamic_batching(), model);
  if (!status.ok()) return status;
  ApplyParameters(triton, model);
  ApplyVersions(triton.version_policy(), &notes->versions);
  NoteWhatIsIgnored(triton, notes);
  return absl::OkStatus();
}

// Keeps the first thing that is wrong with a text. Which of the two functions overrides one of the
// base's is told by protobuf's version.
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
  const auto status = google::protobuf::util::JsonStringToMessage(json, &triton);
  if (status.ok()) return Apply(triton, model, notes);
  return absl::InvalidArgumentError(
      absl::StrCat("the config is no model configuration: ", std::string(status.message())));
}

absl::Status ApplyTritonText(const std::string& text, ModelConfig* model, TritonNotes* notes) {
  if (text.size() > kMaxTextBytes) return absl::InvalidArgumentError("config.pbtxt is too large");
  pb::ModelConfig triton;
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  if (parser.ParseFromString(text, &triton)) return Apply(triton, model, notes);
  return absl::InvalidArgumentError(absl::StrCat("config.pbtxt: ", error.text));
}

}  // namespace mpsd
