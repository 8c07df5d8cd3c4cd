#include "client/web/rest_client.h"

#include "absl/strings/str_cat.h"
#include "client/status_json.h"
#include "client/web/answer_json.h"
#include "client/web/infer_bodies.h"

namespace mpsd::client {
namespace {

constexpr char kJsonLength[] = "Inference-Header-Content-Length";
constexpr char kJsonLengthLower[] = "inference-header-content-length";  // as HttpReply has it

// Empty where a server has nothing to say.
std::string TextAt(const Json& entry, const char* key) {
  const Json& text = Field(entry, key);
  return text.is_string() ? text.get<std::string>() : "";
}

// 0 if there is none.
uint64_t NumberAt(const Json& entry, const char* key) {
  const Json& number = Field(entry, key);
  return number.is_number_unsigned() ? number.get<uint64_t>() : 0;
}

absl::StatusOr<ModelRuns> ReadModelRuns(absl::string_view body) {
  const Json answer = ParseAnswer(body);
  const Json& versions = Field(answer, "model_stats");
  if (!versions.is_array()) return WrongAnswer("is no statistics");
  ModelRuns runs;
  for (const Json& version : versions) {
    runs.rows += NumberAt(version, "inference_count");
    runs.batches += NumberAt(version, "execution_count");
  }
  return runs;
}

}  // namespace

HttpRequest ListRequest() { return {"POST", "/v2/repository/index"}; }

absl::StatusOr<std::vector<ListedModel>> ReadListedModels(absl::string_view body) {
  const Json list = ParseAnswer(body);
  if (!list.is_array()) return WrongAnswer("is no list of models");
  std::vector<ListedModel> models;
  for (const Json& entry : list) {
    models.push_back({TextAt(entry, "name"), TextAt(entry, "version"), TextAt(entry, "state"),
                      TextAt(entry, "reason")});
    if (models.back().name.empty()) return WrongAnswer("has a model without a name");
  }
  return models;
}

HttpRequest InferHttpRequest(const InferRequest& request) {
  InferBody body = WriteInferBody(request);
  return {
      "POST",
      absl::StrCat(ModelPath(request.model, request.version), "/infer"),
      std::move(body.bytes),
      {{"Content-Type", "application/octet-stream"}, {kJsonLength, absl::StrCat(body.json_bytes)}}};
}

absl::StatusOr<std::vector<ListedModel>> RestClient::ListModels(absl::Time deadline) {
  const auto reply = http_->Call(ListRequest(), deadline);
  if (!reply.ok()) return reply.status();
  return ReadListedModels(reply->body);
}

absl::StatusOr<DaemonStatus> RestClient::GetDaemonStatus(absl::Time deadline) {
  const auto reply = http_->Call({"GET", "/mpsd/status"}, deadline);
  if (!reply.ok()) return reply.status();
  return ReadDaemonStatus(reply->body);
}

absl::StatusOr<ModelMetadata> RestClient::GetModelMetadata(const std::string& model,
                                                           const std::string& version,
                                                           absl::Time deadline) {
  const auto reply = http_->Call({"GET", ModelPath(model, version)}, deadline);
  if (!reply.ok()) return reply.status();
  return ReadModelMetadata(reply->body);
}

absl::StatusOr<ModelRuns> RestClient::GetModelRuns(const std::string& model, absl::Time deadline) {
  const auto reply = http_->Call({"GET", ModelPath(model, "") + "/stats"}, deadline);
  if (!reply.ok()) return reply.status();
  return ReadModelRuns(reply->body);
}

absl::StatusOr<uint32_t> RestClient::ForgiveContents(const std::string& model,
                                                     absl::Time deadline) {
  const std::string path = absl::StrCat("/mpsd/models/", Escaped(model), "/forgive");
  const auto reply = http_->Call({"POST", path}, deadline);
  if (!reply.ok()) return reply.status();
  const Json answer = ParseAnswer(reply->body);
  const Json& contents = Field(answer, "contents");
  if (!contents.is_number_unsigned()) return WrongAnswer("is no number of contents");
  return contents.get<uint32_t>();
}

absl::StatusOr<InferReply> RestClient::Infer(const InferRequest& request, absl::Time deadline) {
  const auto reply = http_->Call(InferHttpRequest(request), deadline);
  if (!reply.ok()) return reply.status();
  const auto length = reply->headers.find(kJsonLengthLower);
  return ReadInferReply(reply->body, length == reply->headers.end() ? "" : length->second);
}

}  // namespace mpsd::client
