// RestClient: inferences by the Open Inference Protocol over HTTP, as Client does over gRPC.
//
//   auto http = HttpClient::Connect("http://127.0.0.1:8000", absl::Now() + absl::Seconds(5));
//   if (!http.ok()) return http.status();
//   RestClient client(*std::move(http));
//   auto reply = client.Infer(request, absl::Now() + absl::Seconds(1));
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/client.h"
#include "client/web/http_client.h"

namespace mpsd::client {

// INTERNAL says what is wrong with an answer. Pure.
HttpRequest ListRequest();
absl::StatusOr<std::vector<ListedModel>> ReadListedModels(absl::string_view body);

// Tensors go as bytes. REQUIRES: none lies in a region. Pure.
HttpRequest InferHttpRequest(const InferRequest& request);

// Calls one at a time, each until `deadline` at most, which the server sees too. Errors are those
// of HttpClient::Call(); a wrong answer is INTERNAL. Never repeats a request. Thread-compatible.
class RestClient {
 public:
  explicit RestClient(std::unique_ptr<HttpClient> http) : http_(std::move(http)) {}

  // An empty `version` is the highest that is ready. NOT_FOUND: no such model or version.
  absl::StatusOr<ModelMetadata> GetModelMetadata(const std::string& model,
                                                 const std::string& version, absl::Time deadline);

  absl::StatusOr<std::vector<ListedModel>> ListModels(absl::Time deadline);

  // Only mpsd answers.
  absl::StatusOr<DaemonStatus> GetDaemonStatus(absl::Time deadline);

  // Counts all versions. NOT_FOUND: no such model.
  absl::StatusOr<ModelRuns> GetModelRuns(const std::string& model, absl::Time deadline);

  // Has a daemon of mpsd take again contents that a model refuses. Returns their number.
  absl::StatusOr<uint32_t> ForgiveContents(const std::string& model, absl::Time deadline);

  // Tensors go and come as bytes. REQUIRES: none lies in a region.
  absl::StatusOr<InferReply> Infer(const InferRequest& request, absl::Time deadline);

 private:
  const std::unique_ptr<HttpClient> http_;
};

}  // namespace mpsd::client
