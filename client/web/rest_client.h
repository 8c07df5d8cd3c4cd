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

// The request for the models that a server knows, and what its answer says. A server may be
// anybody's: INTERNAL says what is wrong with the answer. Pure.
HttpRequest ListRequest();
absl::StatusOr<std::vector<ListedModel>> ReadListedModels(absl::string_view body);

// The request for an inference, whose tensors go as bytes. REQUIRES: none of them lies in a region.
// Pure.
HttpRequest InferHttpRequest(const InferRequest& request);

// Calls one at a time over the connection that it owns. Each blocks until it is answered, but not
// beyond `deadline`, which the server sees too. Errors are those of HttpClient::Call(); an answer
// that is none, or contradicts itself, is INTERNAL. Never repeats a request. Owned by the program.
// Thread-compatible.
class RestClient {
 public:
  explicit RestClient(std::unique_ptr<HttpClient> http) : http_(std::move(http)) {}

  // The model's inputs and outputs. An empty `version` means the highest that is ready. NOT_FOUND
  // when the server has no such model or version.
  absl::StatusOr<ModelMetadata> GetModelMetadata(const std::string& model,
                                                 const std::string& version, absl::Time deadline);

  // All versions of models that the server knows.
  absl::StatusOr<std::vector<ListedModel>> ListModels(absl::Time deadline);

  // The state of a daemon of mpsd.
  absl::StatusOr<DaemonStatus> GetDaemonStatus(absl::Time deadline);

  // How much the model has run, in all its versions. NOT_FOUND when the server has no such model.
  absl::StatusOr<ModelRuns> GetModelRuns(const std::string& model, absl::Time deadline);

  // Has a daemon of mpsd take again the contents that a model refuses. Returns how many they were.
  absl::StatusOr<uint32_t> ForgiveContents(const std::string& model, absl::Time deadline);

  // Runs one inference; tensors go and come as bytes. REQUIRES: none of them lies in a region.
  absl::StatusOr<InferReply> Infer(const InferRequest& request, absl::Time deadline);

 private:
  const std::unique_ptr<HttpClient> http_;
};

}  // namespace mpsd::client
