#include "server/control/inference_methods.h"

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "proto/inference.pb.h"
#include "server/request/find_served.h"

namespace mpsd {
namespace {

namespace pb = inference;
using Kind = MethodTable::Kind;

constexpr const char* kExtensions[] = {"classification",   "logging",    "model_configuration",
                                       "model_repository", "parameters", "statistics"};

void Describe(const TensorSpec& tensor, bool batches,
              pb::ModelMetadataResponse::TensorMetadata* metadata) {
  metadata->set_name(tensor.name);
  metadata->set_datatype(std::string(DataTypeName(tensor.datatype)));
  if (batches) metadata->add_shape(-1);
  for (const int64_t dim : tensor.dims) metadata->add_shape(dim);
}

absl::Status Metadata(const ModelDirectory& models, const pb::ModelMetadataRequest& request,
                      pb::ModelMetadataResponse* response) {
  const absl::StatusOr<std::shared_ptr<ServedModel>> model =
      FindServed(models, request.name(), request.version());
  if (!model.ok()) return model.status();
  if (!(*model)->loaded) {
    return absl::UnavailableError(
        absl::StrCat("Request for model '", request.name(), "' is not at ready state"));
  }
  const ModelSpec& spec = (*model)->spec;
  response->set_name((*model)->name);
  const bool all = request.version().empty();
  for (std::string& version :
       all ? models.Versions(request.name()) : std::vector<std::string>{(*model)->version}) {
    response->add_versions(std::move(version));
  }
  response->set_platform((*model)->platform);
  for (const TensorSpec& input : spec.inputs) {
    Describe(input, spec.batches(), response->add_inputs());
  }
  for (const TensorSpec& output : spec.outputs) {
    Describe(output, spec.batches(), response->add_outputs());
  }
  (*response->mutable_properties())["max_batch_size"] = absl::StrCat(spec.max_batch_size);
  return absl::OkStatus();
}

// Unknown models and versions are not ready; only a malformed version is an error.
absl::Status Readiness(const ModelDirectory& models, const pb::ModelReadyRequest& request,
                       pb::ModelReadyResponse* response) {
  const absl::StatusOr<std::shared_ptr<ServedModel>> model =
      FindServed(models, request.name(), request.version());
  if (absl::IsInvalidArgument(model.status())) return model.status();
  response->set_ready(model.ok() && (*model)->ready && models.stage == ServingStage::kServing);
  return absl::OkStatus();
}

}  // namespace

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
        response->set_ready(models->AllReady());
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

}  // namespace mpsd
