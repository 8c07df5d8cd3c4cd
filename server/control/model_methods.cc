#include "server/control/model_methods.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "proto/base/check.h"
#include "proto/base/clock.h"
#include "proto/health.pb.h"
#include "proto/inference.pb.h"
#include "server/telemetry/answer_statistics.h"
#include "server/telemetry/inference_statistics.h"
#include "server/texts/told_inputs.h"

namespace mpsd {
namespace {

namespace pb = inference;
namespace health_pb = grpc::health::v1;
using Kind = MethodTable::Kind;

// Nothing for an unknown name.
std::optional<bool> IsServing(const ModelDirectory& models, const std::string& name) {
  if (name.empty() || name == "inference.GRPCInferenceService") return models.IsReady();
  const std::shared_ptr<ServedModel> model = models.Find(name);
  if (model == nullptr) return models.Knows(name) ? std::optional<bool>(false) : std::nullopt;
  return model->IsReady() && models.stage == ServingStage::kServing;
}

// Covers all that IsServing() looks at.
uint64_t StateOf(const ModelDirectory& models) {
  size_t state = absl::HashOf(models.stage.load(), models.strict.load());
  for (const std::shared_ptr<ServedModel>& model : models.models()) {
    state = absl::HashOf(state, model->name, model->version, model->IsReady());
  }
  for (const RefusedModel& model : models.refused()) {
    state = absl::HashOf(state, model.name, model.version, model.wanted);
  }
  return state;
}

constexpr int kServiceUnknown = 3;  // only Watch answers this

constexpr const char* kExtensions[] = {"binary_tensor_data",  "classification",   "logging",
                                       "model_configuration", "model_repository", "parameters",
                                       "schedule_policy",     "sequence",         "statistics"};

void Describe(const TensorSpec& tensor, bool batches,
              pb::ModelMetadataResponse::TensorMetadata* metadata) {
  metadata->set_name(tensor.name);
  metadata->set_datatype(std::string(DataTypeName(tensor.datatype)));
  if (batches) metadata->add_shape(-1);
  for (const int64_t dim : tensor.told_dims()) metadata->add_shape(dim);
}

// The optional inputs' names, "B,C", for which the message has no other place.
std::string OptionalInputs(absl::Span<const TensorSpec> inputs) {
  std::vector<absl::string_view> names;
  for (const TensorSpec& input : inputs) {
    if (input.optional) names.push_back(input.name);
  }
  return absl::StrJoin(names, ",");
}

absl::Status Metadata(const ModelDirectory& models, const pb::ModelMetadataRequest& request,
                      pb::ModelMetadataResponse* response) {
  const absl::StatusOr<std::shared_ptr<ServedModel>> model =
      FindLoaded(models, request.name(), request.version());
  if (!model.ok()) return model.status();
  const ModelSpec& spec = (*model)->spec;
  response->set_name((*model)->name);
  const bool all = request.version().empty();
  for (std::string& version :
       all ? models.Versions(request.name()) : std::vector<std::string>{(*model)->version}) {
    response->add_versions(std::move(version));
  }
  response->set_platform((*model)->platform);
  const std::vector<TensorSpec> inputs = ToldInputs(**model);
  for (const TensorSpec& input : inputs) {
    Describe(input, spec.batches(), response->add_inputs());
  }
  for (const TensorSpec& output : spec.outputs) {
    if (model.value()->IsTold(output)) Describe(output, spec.batches(), response->add_outputs());
  }
  auto& properties = *response->mutable_properties();
  properties["max_batch_size"] = absl::StrCat(spec.max_batch_size);
  const std::string optional = OptionalInputs(inputs);
  if (!optional.empty()) properties["optional_inputs"] = optional;
  return absl::OkStatus();
}

// Only a malformed version is an error.
absl::Status Readiness(const ModelDirectory& models, const pb::ModelReadyRequest& request,
                       pb::ModelReadyResponse* response) {
  const absl::StatusOr<std::shared_ptr<ServedModel>> model =
      FindServed(models, request.name(), request.version());
  if (absl::IsInvalidArgument(model.status())) return model.status();
  response->set_ready(model.ok() && (*model)->IsReady() && models.stage == ServingStage::kServing);
  return absl::OkStatus();
}

// Null for an empty or unknown name.
const TensorSpec* FindTensor(const std::vector<TensorSpec>& tensors, absl::string_view name) {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [name](const TensorSpec& tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

// Both sides use the same names, except for BYTES.
pb::DataType TypeOf(DataType datatype) {
  if (datatype == DataType::kBytes) return pb::TYPE_STRING;
  pb::DataType type = pb::TYPE_INVALID;
  const std::string name = absl::StrCat("TYPE_", DataTypeName(datatype));
  return pb::DataType_Parse(name, &type) ? type : pb::TYPE_INVALID;
}

template <typename Tensor>
void Describe(const TensorSpec& spec, Tensor* tensor) {
  tensor->set_name(spec.name);
  tensor->set_data_type(TypeOf(spec.datatype));
  for (const int64_t dim : spec.told_dims()) tensor->add_dims(dim);
  if (!spec.client_dims.has_value()) return;
  pb::ModelTensorReshape* reshape = tensor->mutable_reshape();  // even if it is []
  for (const int64_t dim : spec.dims) reshape->add_shape(dim);
}

void DescribeInput(const TensorSpec& spec, const ModelFacts& facts, pb::ModelInput* input) {
  Describe(spec, input);
  input->set_optional(spec.optional);
  const auto written = facts.input_formats.find(spec.name);
  pb::ModelInput::Format format = pb::ModelInput::FORMAT_NONE;
  const bool known = written != facts.input_formats.end() &&
                     pb::ModelInput::Format_Parse(written->second, &format);
  input->set_format(known ? format : pb::ModelInput::FORMAT_NONE);
}

void DescribeOutput(const TensorSpec& spec, const ModelFacts& facts, pb::ModelOutput* output) {
  Describe(spec, output);
  const auto file = facts.label_files.find(spec.name);
  if (file != facts.label_files.end()) output->set_label_filename(file->second);
}

// The number of processes by device.
std::vector<std::pair<std::string, uint32_t>> CountByDevice(const std::vector<std::string>& all) {
  std::vector<std::pair<std::string, uint32_t>> counts;
  for (const std::string& device : all) {
    const auto found = std::find_if(counts.begin(), counts.end(),
                                    [&](const auto& count) { return count.first == device; });
    if (found == counts.end()) {
      counts.emplace_back(device, 1);
    } else {
      ++found->second;
    }
  }
  return counts;
}

// "cpu", "cuda", "cuda:1" or "mps".
void DescribeDevice(absl::string_view device, pb::ModelInstanceGroup* group) {
  if (!absl::ConsumePrefix(&device, "cuda")) {
    group->set_kind(pb::ModelInstanceGroup::KIND_CPU);
    return;
  }
  group->set_kind(pb::ModelInstanceGroup::KIND_GPU);
  int32_t index = 0;
  if (absl::ConsumePrefix(&device, ":") && !absl::SimpleAtoi(device, &index)) index = 0;
  group->add_gpus(index);
}

void DescribeRateLimit(const LaneNeeds& needs, pb::ModelRateLimiter* target) {
  target->set_priority(needs.priority);
  for (const ResourceNeed& need : needs.resources) {
    pb::ModelRateLimiter::Resource* resource = target->add_resources();
    resource->set_name(need.name);
    resource->set_count(need.count);
    resource->set_global(need.is_global);
  }
}

// Devices with equally many processes form one group.
void DescribeInstances(const ServedModel& model, pb::ModelConfig* config) {
  const ModelFacts& facts = model.facts;
  uint32_t processes_before = 0;
  for (const auto& [device, processes] : CountByDevice(facts.devices)) {
    if (processes != processes_before) {
      const int number = config->instance_group_size();
      pb::ModelInstanceGroup* group = config->add_instance_group();
      group->set_name(absl::StrCat(model.name, "_", number));
      group->set_count(static_cast<int32_t>(processes * facts.lanes));
      if (!facts.lane_needs.resources.empty()) {
        DescribeRateLimit(facts.lane_needs, group->mutable_rate_limiter());
      }
      processes_before = processes;
    }
    DescribeDevice(device, &*config->mutable_instance_group()->rbegin());
  }
}

void DescribePolicy(const QueuePolicy& policy, pb::ModelQueuePolicy* target) {
  target->set_max_queue_size(policy.requests);
  target->set_default_timeout_microseconds(static_cast<uint64_t>(policy.timeout_ns / kNsPerUs));
  target->set_allow_timeout_override(policy.allow_timeout_override);
  if (policy.timeout_action == TimeoutAction::kDelay) {
    target->set_timeout_action(pb::ModelQueuePolicy::DELAY);
  }
}

void DescribeQueue(const QueuePolicies& queue, pb::ModelDynamicBatching* batching) {
  if (queue.levels.size() == 1) {
    return DescribePolicy(queue.levels[0], batching->mutable_default_queue_policy());
  }
  batching->set_priority_levels(queue.levels.size());
  batching->set_default_priority_level(queue.default_level + 1);
  for (size_t i = 0; i < queue.levels.size(); ++i) {
    DescribePolicy(queue.levels[i], &(*batching->mutable_priority_queue_policy())[i + 1]);
  }
}

void DescribeSteps(const std::vector<ModelStep>& steps, pb::ModelEnsembling* target) {
  for (const ModelStep& source : steps) {
    pb::ModelEnsembling::Step* step = target->add_step();
    step->set_model_name(source.model);
    int64_t version = -1;  // Triton's mark for the highest
    if (!absl::SimpleAtoi(source.version, &version)) version = -1;
    step->set_model_version(version);
    step->mutable_input_map()->insert(source.inputs.begin(), source.inputs.end());
    step->mutable_output_map()->insert(source.outputs.begin(), source.outputs.end());
  }
}

// The values have the input's type.
void DescribeControl(const ModelSpec& spec, const SequenceControl& source,
                     pb::ModelSequenceBatching::Control::Kind kind,
                     pb::ModelSequenceBatching* target) {
  const TensorSpec* const tensor = FindTensor(spec.inputs, source.input);
  if (tensor == nullptr) return;
  pb::ModelSequenceBatching::ControlInput* input = target->add_control_input();
  input->set_name(source.input);
  pb::ModelSequenceBatching::Control* control = input->add_control();
  control->set_kind(kind);
  for (const double value : {source.no, source.yes}) {
    if (tensor->datatype == DataType::kBool) {
      control->add_bool_false_true(value != 0);
    } else if (tensor->datatype == DataType::kFp32) {
      control->add_fp32_false_true(static_cast<float>(value));
    } else {
      control->add_int32_false_true(static_cast<int32_t>(value));
    }
  }
}

void DescribeState(const ModelSpec& spec, const SequenceState& source,
                   pb::ModelSequenceBatching* target) {
  const TensorSpec* const tensor = FindTensor(spec.inputs, source.input);
  if (tensor == nullptr) return;
  pb::ModelSequenceBatching::State* state = target->add_state();
  state->set_input_name(source.input);
  state->set_output_name(source.output);
  state->set_data_type(TypeOf(tensor->datatype));
  pb::ModelSequenceBatching::InitialState* initial = state->add_initial_state();
  initial->set_name("zeros");
  initial->set_data_type(TypeOf(tensor->datatype));
  initial->set_zero_data(true);
  for (const int64_t dim : tensor->dims) {
    state->add_dims(dim);
    initial->add_dims(dim);
  }
}

void DescribeStrategy(const ModelFacts& facts, pb::ModelSequenceBatching* target) {
  const auto delay_us = static_cast<uint64_t>(facts.max_delay_ns / kNsPerUs);
  if (facts.sequences->is_direct) {
    target->mutable_direct()->set_max_queue_delay_microseconds(delay_us);
    return;
  }
  pb::ModelSequenceBatching::StrategyOldest* oldest = target->mutable_oldest();
  oldest->set_max_candidate_sequences(static_cast<int32_t>(facts.sequences->candidates));
  oldest->set_max_queue_delay_microseconds(delay_us);
  for (const uint32_t size : facts.preferred_sizes) {
    oldest->add_preferred_batch_size(static_cast<int32_t>(size));
  }
}

void DescribeSequences(const ServedModel& model, pb::ModelConfig* config) {
  using Control = pb::ModelSequenceBatching::Control;
  const SequencePolicy& policy = *model.facts.sequences;
  pb::ModelSequenceBatching* target = config->mutable_sequence_batching();
  target->set_max_sequence_idle_microseconds(static_cast<uint64_t>(policy.idle_ns / kNsPerUs));
  DescribeControl(model.spec, policy.start, Control::CONTROL_SEQUENCE_START, target);
  DescribeControl(model.spec, policy.ready, Control::CONTROL_SEQUENCE_READY, target);
  DescribeControl(model.spec, policy.end, Control::CONTROL_SEQUENCE_END, target);
  if (const TensorSpec* const id = FindTensor(model.spec.inputs, policy.id_input); id != nullptr) {
    pb::ModelSequenceBatching::ControlInput* input = target->add_control_input();
    input->set_name(id->name);
    Control* control = input->add_control();
    control->set_kind(Control::CONTROL_SEQUENCE_CORRID);
    control->set_data_type(TypeOf(id->datatype));
  }
  for (const SequenceState& state : policy.states) DescribeState(model.spec, state, target);
  DescribeStrategy(model.facts, target);
}

// Either steps, or lanes and batches.
void DescribeRuns(const ServedModel& model, pb::ModelConfig* config) {
  if (model.members != nullptr) {
    return DescribeSteps(model.facts.steps, config->mutable_ensemble_scheduling());
  }
  DescribeInstances(model, config);
  if (model.facts.sequences.has_value()) return DescribeSequences(model, config);
  if (!model.spec.batches()) return;
  pb::ModelDynamicBatching* batching = config->mutable_dynamic_batching();
  batching->set_max_queue_delay_microseconds(
      static_cast<uint64_t>(model.facts.max_delay_ns / kNsPerUs));
  for (const uint32_t size : model.facts.preferred_sizes) {
    batching->add_preferred_batch_size(static_cast<int32_t>(size));
  }
  DescribeQueue(model.facts.queue, batching);
}

void Describe(const ServedModel& model, pb::ModelConfig* config) {
  const ModelSpec& spec = model.spec;
  config->set_name(model.name);
  config->set_platform(model.platform);
  config->set_backend(model.facts.backend);
  config->set_max_batch_size(static_cast<int32_t>(spec.max_batch_size));
  for (const TensorSpec& input : ToldInputs(model)) {
    DescribeInput(input, model.facts, config->add_input());
  }
  for (const TensorSpec& output : spec.outputs) {
    if (model.IsTold(output)) DescribeOutput(output, model.facts, config->add_output());
  }
  DescribeRuns(model, config);
  for (const auto& [name, value] : model.parameters) {
    (*config->mutable_parameters())[name].set_string_value(value);
  }
  config->mutable_model_transaction_policy()->set_decoupled(spec.decoupled);
  const bool keeps_answers = model.facts.response_cache != CacheScope::kOff;
  if (keeps_answers) config->mutable_response_cache()->set_enable(true);
}

// The policy that leads to the served versions.
void DescribeVersions(const std::vector<std::string>& versions, pb::ModelVersionPolicy* policy) {
  if (versions.size() <= 1) return policy->mutable_latest()->set_num_versions(1);
  for (const std::string& version : versions) {
    int64_t number = 0;
    if (absl::SimpleAtoi(version, &number)) policy->mutable_specific()->add_versions(number);
  }
}

void Describe(const CountAndTime& source, pb::StatisticDuration* target) {
  target->set_count(source.count);
  target->set_ns(source.ns);
}

void Describe(const InferenceStatistics::Totals& totals, pb::ModelStatistics* target) {
  target->set_last_inference(static_cast<uint64_t>(totals.last_inference_ms));
  target->set_inference_count(totals.inference_count);
  target->set_execution_count(totals.execution_count);
  pb::InferStatistics* infer = target->mutable_inference_stats();
  Describe(totals.success, infer->mutable_success());
  Describe(totals.fail, infer->mutable_fail());
  Describe(totals.queue, infer->mutable_queue());
  Describe(totals.compute_input, infer->mutable_compute_input());
  Describe(totals.compute_infer, infer->mutable_compute_infer());
  Describe(totals.compute_output, infer->mutable_compute_output());
  // Clients that print a breakdown expect these fields.
  Describe(totals.cache_hit, infer->mutable_cache_hit());
  Describe(totals.cache_miss, infer->mutable_cache_miss());
  for (size_t rows = 0; rows < totals.by_batch_size.size(); ++rows) {
    const InferenceStatistics::BatchSize& size = totals.by_batch_size[rows];
    if (size.compute_infer.count == 0) continue;
    pb::InferBatchStatistics* batch = target->add_batch_stats();
    batch->set_batch_size(rows);
    Describe(size.compute_input, batch->mutable_compute_input());
    Describe(size.compute_infer, batch->mutable_compute_infer());
    Describe(size.compute_output, batch->mutable_compute_output());
  }
}

void Describe(const std::vector<AnswerStatistics::Index>& answers, pb::ModelStatistics* target) {
  for (size_t i = 0; i < answers.size(); ++i) {
    const AnswerStatistics::Index& index = answers[i];
    pb::InferResponseStatistics& response = (*target->mutable_response_stats())[absl::StrCat(i)];
    Describe(index.compute_infer, response.mutable_compute_infer());
    Describe(index.compute_output, response.mutable_compute_output());
    Describe(index.sent, response.mutable_success());
    Describe(index.failed, response.mutable_fail());
    Describe(index.no_more, response.mutable_empty_response());
    Describe(index.cancelled, response.mutable_cancel());
  }
}

void Describe(const ServedModel& model, const WorkerStatusSource& workers,
              pb::ModelStatistics* target) {
  target->set_name(model.name);
  target->set_version(model.version);
  Describe(model.metrics.inference.Read(), target);
  Describe(model.metrics.answers.Read(), target);
  uint64_t resident_bytes = 0;
  for (const WorkerInfo& worker : workers.Workers(model)) {
    resident_bytes += worker.resident_bytes;
  }
  if (resident_bytes == 0) return;
  pb::MemoryUsage* usage = target->add_memory_usage();
  usage->set_type("CPU");
  usage->set_byte_size(resident_bytes);
}

}  // namespace

void AddHealthMethods(const ModelDirectory* models, MethodTable* table) {
  table->AddTyped<health_pb::HealthCheckRequest, health_pb::HealthCheckResponse>(
      "/grpc.health.v1.Health/Check", MethodTable::Kind::kUnary,
      [models](const CallerInfo&, const auto& request, auto* response) {
        const std::optional<bool> serving = IsServing(*models, request.service());
        if (!serving.has_value()) return absl::NotFoundError("unknown service");
        response->set_status(*serving ? health_pb::HealthCheckResponse::SERVING
                                      : health_pb::HealthCheckResponse::NOT_SERVING);
        return absl::OkStatus();
      });
  table->AddTypedWatched<health_pb::HealthCheckRequest, health_pb::HealthCheckResponse>(
      "/grpc.health.v1.Health/Watch", [models] { return StateOf(*models); },
      [models](const CallerInfo&, const auto& request, auto* response) {
        const std::optional<bool> serving = IsServing(*models, request.service());
        const int known = serving.value_or(false) ? health_pb::HealthCheckResponse::SERVING
                                                  : health_pb::HealthCheckResponse::NOT_SERVING;
        response->set_status(static_cast<health_pb::HealthCheckResponse::ServingStatus>(
            serving.has_value() ? known : kServiceUnknown));
        return absl::OkStatus();
      });
}

void AddInferenceMethods(const ModelDirectory* models, const ServerFacts& facts,
                         MethodTable* table) {
  MPSD_CHECK(facts.takes_device_memory != nullptr);
  table->AddTyped<pb::ServerLiveRequest, pb::ServerLiveResponse>(
      InferenceMethodName("ServerLive"), Kind::kUnary,
      [](const CallerInfo&, const auto&, auto* response) {
        response->set_live(true);
        return absl::OkStatus();
      });
  table->AddTyped<pb::ServerReadyRequest, pb::ServerReadyResponse>(
      InferenceMethodName("ServerReady"), Kind::kUnary,
      [models](const CallerInfo&, const auto&, auto* response) {
        response->set_ready(models->IsReady());
        return absl::OkStatus();
      });
  table->AddTyped<pb::ModelReadyRequest, pb::ModelReadyResponse>(
      InferenceMethodName("ModelReady"), Kind::kUnary,
      [models](const CallerInfo&, const auto& request, auto* response) {
        return Readiness(*models, request, response);
      });
  table->AddTyped<pb::ServerMetadataRequest, pb::ServerMetadataResponse>(
      InferenceMethodName("ServerMetadata"), Kind::kUnary,
      [facts](const CallerInfo&, const auto&, auto* response) {
        response->set_name(facts.name);
        response->set_version(facts.version);
        for (const char* extension : kExtensions) response->add_extensions(extension);
        if (facts.takes_shared_memory) response->add_extensions("system_shared_memory");
        if (facts.takes_device_memory()) response->add_extensions("cuda_shared_memory");
        if (facts.writes_traces) response->add_extensions("trace");
        return absl::OkStatus();
      });
  table->AddTyped<pb::ModelMetadataRequest, pb::ModelMetadataResponse>(
      InferenceMethodName("ModelMetadata"), Kind::kUnary,
      [models](const CallerInfo&, const auto& request, auto* response) {
        return Metadata(*models, request, response);
      });
}

void AddModelConfigMethod(const ModelDirectory* models, MethodTable* table) {
  table->AddTyped<pb::ModelConfigRequest, pb::ModelConfigResponse>(
      InferenceMethodName("ModelConfig"), MethodTable::Kind::kUnary,
      [models](const CallerInfo&, const auto& request, auto* response) {
        const absl::StatusOr<std::shared_ptr<ServedModel>> model =
            FindLoaded(*models, request.name(), request.version());
        if (!model.ok()) return model.status();
        Describe(**model, response->mutable_config());
        DescribeVersions(models->Versions(request.name()),
                         response->mutable_config()->mutable_version_policy());
        return absl::OkStatus();
      });
}

void AddStatisticsMethod(const ModelDirectory* models, const WorkerStatusSource* workers,
                         MethodTable* table) {
  table->AddTyped<pb::ModelStatisticsRequest, pb::ModelStatisticsResponse>(
      InferenceMethodName("ModelStatistics"), MethodTable::Kind::kUnary,
      [=](const CallerInfo&, const auto& request, auto* response) {
        if (!request.name().empty()) {
          const absl::Status found =
              FindServed(*models, request.name(), request.version()).status();
          if (!found.ok()) return found;
        }
        const auto wanted = [](const std::string& asked, const std::string& have) {
          return asked.empty() || asked == have;
        };
        for (const std::shared_ptr<ServedModel>& model : models->models()) {
          if (!wanted(request.name(), model->name)) continue;
          if (!wanted(request.version(), model->version)) continue;
          Describe(*model, *workers, response->add_model_stats());
        }
        return absl::OkStatus();
      });
}

}  // namespace mpsd
