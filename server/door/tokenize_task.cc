#include "server/door/tokenize_task.h"

#include "server/bodies/text_routes/ollama_json.h"
#include "server/bodies/text_routes/tokenize.h"
#include "server/door/body_fault.h"
#include "server/door/text_page.h"

namespace mpsd {

void TokenizeTask::Serve(BodyEnd body) {
  const bool is_large = call_->request().body.size() > kMaxBodyBytes;
  const BodyFault fault = FaultOf(is_large ? BodyEnd::kTooLarge : body);
  if (!fault.status.ok()) {
    return call_->Reply(RouteError(route_, fault.status, fault.http_code, context_->style));
  }
  absl::StatusOr<std::string> json = Answer();
  if (!json.ok()) return call_->Reply(RouteError(route_, json.status(), 0, context_->style));
  call_->Reply({200, kJsonType, *std::move(json)});
}

absl::StatusOr<std::string> TokenizeTask::Show(std::string body) {
  const absl::StatusOr<std::string> name = ReadOllamaShow(std::move(body));
  if (!name.ok()) return name.status();
  const absl::StatusOr<TextModel> model =
      FindForCaller(*context_, *call_, TextRoute::kOllamaShow, *name, &grant_);
  if (!model.ok()) return model.status();
  return OllamaShowJson(*model);
}

absl::StatusOr<std::string> TokenizeTask::Answer() {
  TokenizeRequest request;
  std::string bytes(call_->request().body.view());
  if (route_.text.route == TextRoute::kOllamaShow) return Show(std::move(bytes));
  absl::Status status = ReadTokenizeRequest(bytes, context_->text_rows, &request);
  if (!status.ok()) return status;
  const absl::StatusOr<TextModel> model =
      FindForCaller(*context_, *call_, TextRoute::kTokenize, request.model, &grant_);
  if (!model.ok()) return model.status();
  return TokensJson(request, *model);
}

}  // namespace mpsd
