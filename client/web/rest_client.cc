#include "client/web/rest_client.h"

#include "absl/strings/str_cat.h"
#include "client/web/infer_bodies.h"

namespace mpsd::client {
namespace {

constexpr char kJsonLength[] = "Inference-Header-Content-Length";
constexpr char kJsonLengthLower[] = "inference-header-content-length";  // as HttpReply has it

}  // namespace

absl::StatusOr<ModelMetadata> RestClient::GetModelMetadata(const std::string& model,
                                                           const std::string& version,
                                                           absl::Time deadline) {
  const auto reply = http_->Call({"GET", ModelPath(model, version)}, deadline);
  if (!reply.ok()) return reply.status();
  return ReadModelMetadata(reply->body);
}

absl::StatusOr<InferReply> RestClient::Infer(const InferRequest& request, absl::Time deadline) {
  InferBody body = WriteInferBody(request);
  const auto reply = http_->Call({"POST",
                                  absl::StrCat(ModelPath(request.model, request.version), "/infer"),
                                  std::move(body.bytes),
                                  {{"Content-Type", "application/octet-stream"},
                                   {kJsonLength, absl::StrCat(body.json_bytes)}}},
                                 deadline);
  if (!reply.ok()) return reply.status();
  const auto length = reply->headers.find(kJsonLengthLower);
  return ReadInferReply(reply->body, length == reply->headers.end() ? "" : length->second);
}

}  // namespace mpsd::client
