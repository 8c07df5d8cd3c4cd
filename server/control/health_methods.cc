#include "server/control/health_methods.h"

#include <memory>
#include <optional>
#include <string>

#include "absl/hash/hash.h"
#include "proto/health.pb.h"

namespace mpsd {
namespace {

namespace health_pb = grpc::health::v1;

// Nothing for an unknown name.
std::optional<bool> IsServing(const ModelDirectory& models, const std::string& name) {
  if (name.empty() || name == "inference.GRPCInferenceService") return models.AllReady();
  const std::shared_ptr<ServedModel> model = models.Find(name);
  if (model == nullptr) return std::nullopt;
  return model->ready && models.stage == ServingStage::kServing;
}

// Everything that IsServing() looks at, of all models.
uint64_t StateOf(const ModelDirectory& models) {
  size_t state = absl::HashOf(models.stage.load());
  for (const std::shared_ptr<ServedModel>& model : models.models()) {
    state = absl::HashOf(state, model->name, model->version, model->ready.load());
  }
  return state;
}

constexpr int kServiceUnknown = 3;  // only Watch answers this

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

}  // namespace mpsd
