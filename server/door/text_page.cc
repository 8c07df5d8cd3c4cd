#include "server/door/text_page.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/base/limits.h"
#include "server/bodies/text_routes/ollama_json.h"
#include "server/bodies/text_routes/text_error.h"
#include "server/bodies/text_routes/text_listing.h"
#include "server/bodies/text_routes/text_model.h"
#include "server/bodies/text_routes/usual_model.h"
#include "server/door/error_reply.h"
#include "server/door/http_gate.h"
#include "server/door/text_task.h"

namespace mpsd {
namespace {

std::string ListOf(const DoorContext& context, const HttpCall& call, TextRoute route,
                   const Grant& grant) {
  if (route == TextRoute::kOllamaVersion) return OllamaVersionJson(MPSD_VERSION);
  std::vector<TextModel> models = AllTextModels(*context.models);
  std::erase_if(models, [&](const TextModel& model) {
    return !context.gate->Sees(call, kModelInferAccess, model.name(), grant);
  });
  return IsOllamas(route) ? OllamaModelsJson(route, models) : ModelListJson(models);
}

}  // namespace

absl::StatusOr<TextModel> FindForCaller(const DoorContext& context, const HttpCall& call,
                                        TextRoute route, absl::string_view name, Grant* grant) {
  absl::Status status;
  if (!name.empty()) status = context.gate->MayUse(call, kModelInferAccess, name, grant);
  if (!status.ok()) return status;
  if (!name.empty()) return FindTextModel(*context.models, name);
  const auto sees = [&](absl::string_view model) {
    return context.gate->Sees(call, kModelInferAccess, model, *grant);
  };
  absl::StatusOr<TextModel> model = FindUsualModel(*context.models, route, sees);
  if (!model.ok()) return model;
  status = context.gate->MayUse(call, kModelInferAccess, model->name(), grant);
  if (!status.ok()) return status;
  return model;
}

HttpReply TextPageOf(const DoorContext& context, const HttpCall& call, const Route& route,
                     Grant* grant) {
  const bool is_info = route.text.route == TextRoute::kInfo;
  if (!is_info && route.model.empty()) {
    return {200, kJsonType, ListOf(context, call, route.text.route, *grant)};
  }
  const absl::StatusOr<TextModel> model =
      FindForCaller(context, call, route.text.route, route.model, grant);
  if (!model.ok()) return RouteError(route, model.status(), 0, context.style);
  if (!is_info) return {200, kJsonType, ModelEntryJson(*model)};
  const size_t most_rows =
      std::min(context.text_rows, size_t{kMaxRequestParts} * model->served->spec.max_batch_size);
  const auto sees = [&](absl::string_view name) {
    return context.gate->Sees(call, kModelInferAccess, name, *grant);
  };
  return {200, kJsonType,
          InfoJson(*model, most_rows, MPSD_VERSION, UsualModels(*context.models, sees))};
}

HttpReply RouteError(const Route& route, const absl::Status& status, int code, StatusStyle style) {
  HttpReply reply = ErrorReply(status, style, code);
  if (route.text.route == TextRoute::kNone) return reply;
  TextError error = TextErrorOf(status, reply.status, route.text.errors);
  reply.status = error.code;
  reply.body = std::move(error.json);
  return reply;
}

}  // namespace mpsd
