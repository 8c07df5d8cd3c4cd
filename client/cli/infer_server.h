// InferServer: the server that `infer`, `list`, `ps` and `forgive` ask, whatever it speaks.
//
//   "127.0.0.1:8001", "unix:/path"                     gRPC    client::Client
//   "http://127.0.0.1:8000", "https://host:8443"       HTTP    client::RestClient
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cli/server_options.h"
#include "client/client.h"

namespace mpsd::cli {

// Calls block until `deadline` at most; none is repeated. A server's error has the same code and
// text over both protocols. Thread-compatible.
class InferServer {
 public:
  virtual ~InferServer() = default;

  // An empty `version` is the highest ready one.
  virtual absl::StatusOr<client::ModelMetadata> GetModelMetadata(const std::string& model,
                                                                 const std::string& version,
                                                                 absl::Time deadline) = 0;

  // Lists models that are not loaded too.
  virtual absl::StatusOr<std::vector<client::ListedModel>> ListModels(absl::Time deadline) = 0;

  // Only mpsd answers.
  virtual absl::StatusOr<client::DaemonStatus> GetDaemonStatus(absl::Time deadline) = 0;

  // Has mpsd take again contents that a model refuses. Returns their number.
  virtual absl::StatusOr<uint32_t> ForgiveContents(const std::string& model,
                                                   absl::Time deadline) = 0;

  // The tensors must stay valid until the call returns.
  virtual absl::StatusOr<client::InferReply> Infer(const client::InferRequest& request,
                                                   absl::Time deadline) = 0;
};

// Errors and `*code` as Connect()'s and ConnectHttp()'s.
absl::StatusOr<std::unique_ptr<InferServer>> ConnectInferServer(const ServerOptions& options,
                                                                absl::Time deadline,
                                                                ExitCode* code);

}  // namespace mpsd::cli
