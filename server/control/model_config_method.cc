#include "server/control/model_config_method.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "proto/base/clock.h"
#include "proto/inference.pb.h"
#include "server/request/find_served.h"

namespace mpsd {
namespace {

namespace pb = inference;

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
  for (const int64_t dim : spec.dims) tensor->add_dims(dim);
}

// One group, since all lanes of all processes are alike. The device is "cpu", "cuda", "cuda:1" or
// "mps".
void DescribeInstances(const ServedModel& model, pb::ModelInstanceGroup* group) {
  const ModelFacts& facts = model.facts;
  group->set_name(absl::StrCat(model.name, "_0"));
  group->set_count(static_cast<int32_t>(facts.processes * facts.lanes));
  absl::string_view device = facts.device;
  if (!absl::ConsumePrefix(&device, "cuda")) {
    group->set_kind(pb::ModelInstanceGroup::KIND_CPU);
    return;
  }
  group->set_kind(pb::ModelInstanceGroup::KIND_GPU);
  int32_t index = 0;
  if (absl::ConsumePrefix(&device, ":") && !absl::SimpleAtoi(device, &index)) index = 0;
  group->add_gpus(index);
}

void Describe(const ServedModel& model, pb::ModelConfig* config) {
  const ModelSpec& spec = model.spec;
  config->set_name(model.name);
  config->set_platform(model.platform);
  config->set_backend(model.facts.backend);
  config->set_max_batch_size(static_cast<int32_t>(spec.max_batch_size));
  for (const TensorSpec& input : spec.inputs) Describe(input, config->add_input());
  for (const TensorSpec& output : spec.outputs) Describe(output, config->add_output());
  DescribeInstances(model, config->add_instance_group());
  for (const auto& [name, value] : model.parameters) {
    (*config->mutable_parameters())[name].set_string_value(value);
  }
  config->mutable_model_transaction_policy()->set_decoupled(spec.decoupled);
  if (!spec.batches()) return;
  pb::ModelDynamicBatching* batching = config->mutable_dynamic_batching();
  batching->set_max_queue_delay_microseconds(
      static_cast<uint64_t>(model.facts.max_delay_ns / kNsPerUs));
  batching->mutable_default_queue_policy()->set_max_queue_size(model.facts.queue_requests);
  batching->mutable_default_queue_policy()->set_allow_timeout_override(true);
}

// The policy that leads to the versions that are served.
void DescribeVersions(const std::vector<std::string>& versions, pb::ModelVersionPolicy* policy) {
  if (versions.size() <= 1) return policy->mutable_latest()->set_num_versions(1);
  for (const std::string& version : versions) {
    int64_t number = 0;
    if (absl::SimpleAtoi(version, &number)) policy->mutable_specific()->add_versions(number);
  }
}

}  // namespace

void AddModelConfigMethod(const ModelDirectory* models, MethodTable* table) {
  table->AddTyped<pb::ModelConfigRequest, pb::ModelConfigResponse>(
      InferenceMethodName("ModelConfig"), MethodTable::Kind::kUnary,
      [models](const CallerInfo&, const auto& request, auto* response) {
        const absl::StatusOr<std::shared_ptr<ServedModel>> model =
            FindServed(*models, request.name(), request.version());
        if (!model.ok()) return model.status();
        if (!(*model)->loaded) {
          return absl::UnavailableError(
              absl::StrCat("Request for model '", request.name(), "' is not at ready state"));
        }
        Describe(**model, response->mutable_config());
        DescribeVersions(models->Versions(request.name()),
                         response->mutable_config()->mutable_version_policy());
        return absl::OkStatus();
      });
}

}  // namespace mpsd
