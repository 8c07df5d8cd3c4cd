#include "client/cli/infer_server.h"

#include <utility>

#include "client/web/rest_client.h"
#include "client/web/server_url.h"

namespace mpsd::cli {
namespace {

// `ClientType` has the calls under the same names.
template <class ClientType>
class ServerOver final : public InferServer {
 public:
  explicit ServerOver(std::unique_ptr<ClientType> client) : client_(std::move(client)) {}

  absl::StatusOr<client::ModelMetadata> GetModelMetadata(const std::string& model,
                                                         const std::string& version,
                                                         absl::Time deadline) override {
    return client_->GetModelMetadata(model, version, deadline);
  }

  absl::StatusOr<std::vector<client::ListedModel>> ListModels(absl::Time deadline) override {
    return client_->ListModels(deadline);
  }

  absl::StatusOr<client::DaemonStatus> GetDaemonStatus(absl::Time deadline) override {
    return client_->GetDaemonStatus(deadline);
  }

  absl::StatusOr<uint32_t> ForgiveContents(const std::string& model, absl::Time deadline) override {
    return client_->ForgiveContents(model, deadline);
  }

  absl::StatusOr<client::InferReply> Infer(const client::InferRequest& request,
                                           absl::Time deadline) override {
    return client_->Infer(request, deadline);
  }

 private:
  const std::unique_ptr<ClientType> client_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<InferServer>> ConnectInferServer(const ServerOptions& options,
                                                                absl::Time deadline,
                                                                ExitCode* code) {
  if (client::IsServerUrl(options.address)) {
    auto http = ConnectHttp(options, deadline, code);
    if (!http.ok()) return http.status();
    auto rest = std::make_unique<client::RestClient>(*std::move(http));
    return std::make_unique<ServerOver<client::RestClient>>(std::move(rest));
  }
  auto client = Connect(options, deadline, code);
  if (!client.ok()) return client.status();
  return std::make_unique<ServerOver<client::Client>>(*std::move(client));
}

}  // namespace mpsd::cli
