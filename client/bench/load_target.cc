#include "client/bench/load_target.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/bench/web_pump.h"
#include "client/web/rest_client.h"
#include "client/web/server_url.h"

namespace mpsd::bench {
namespace {

constexpr uint32_t kClientsAChannel = 64;  // a connection has room for twice as many
constexpr uint32_t kOpenChannels = 8;
constexpr uint32_t kOpenWebConnections = 64;
constexpr uint32_t kThreadsMax = 8;

// A quarter of the cores: the server may be on this host.
uint32_t ThreadCount() {
  return std::clamp<uint32_t>(std::thread::hardware_concurrency() / 4, 1, kThreadsMax);
}

class GrpcTarget final : public LoadTarget {
 public:
  explicit GrpcTarget(std::unique_ptr<client::Client> client) : client_(std::move(client)) {}

  absl::StatusOr<client::ModelMetadata> GetModelMetadata(const std::string& model,
                                                         absl::Time deadline) override {
    return client_->GetModelMetadata(model, "", deadline);
  }

  absl::StatusOr<client::ModelRuns> GetModelRuns(const std::string& model,
                                                 absl::Time deadline) override {
    return client_->GetModelRuns(model, deadline);
  }

  absl::StatusOr<traffic::LoadResult> Run(
      const Load& load, const traffic::LoadPlan& plan,
      const std::vector<traffic::PreparedRequest>& requests) override {
    traffic::LoadPlan whole = plan;
    whole.threads = ThreadCount();
    whole.channels = kOpenChannels;
    whole.arrivals.rate = load.rate;
    if (load.clients > 0) {
      whole.arrivals.rate = 0;
      whole.concurrency = load.clients;
      whole.threads = std::min(whole.threads, load.clients);
      whole.channels = (load.clients + kClientsAChannel - 1) / kClientsAChannel;
    }
    return traffic::RunLoad(whole, requests);
  }

 private:
  const std::unique_ptr<client::Client> client_;
};

class WebTarget final : public LoadTarget {
 public:
  explicit WebTarget(std::unique_ptr<client::HttpClient> http) : client_(std::move(http)) {}

  absl::StatusOr<client::ModelMetadata> GetModelMetadata(const std::string& model,
                                                         absl::Time deadline) override {
    return client_.GetModelMetadata(model, "", deadline);
  }

  absl::StatusOr<client::ModelRuns> GetModelRuns(const std::string& model,
                                                 absl::Time deadline) override {
    return client_.GetModelRuns(model, deadline);
  }

  absl::StatusOr<traffic::LoadResult> Run(
      const Load& load, const traffic::LoadPlan& plan,
      const std::vector<traffic::PreparedRequest>& requests) override {
    if (load.clients > kMostWebClients) {
      return absl::InvalidArgumentError(
          absl::StrCat("over HTTP there are at most ", kMostWebClients, " clients"));
    }
    std::vector<client::HttpRequest> as_http;
    for (const traffic::PreparedRequest& prepared : requests) {
      absl::StatusOr<client::HttpRequest> request = AsHttp(prepared);
      if (!request.ok()) return request.status();
      as_http.push_back(*std::move(request));
    }
    traffic::LoadPlan whole = plan;
    whole.threads = load.clients > 0 ? load.clients : kOpenWebConnections;
    whole.arrivals.rate = load.clients > 0 ? 0 : load.rate;
    std::unique_ptr<SharedCalls> due;
    if (whole.arrivals.IsOpen()) due = std::make_unique<SharedCalls>(whole);
    auto result = traffic::RunLoadWith(
        whole, [&](uint32_t thread) -> absl::StatusOr<std::unique_ptr<traffic::Pump>> {
          auto http = client::HttpClient::Connect(
              whole.target, absl::Now() + absl::Nanoseconds(whole.connect_ns), whole.connection);
          if (!http.ok()) return http.status();
          return std::make_unique<WebPump>(whole, requests, as_http, thread, *std::move(http),
                                           due.get());
        });
    if (result.ok() && due != nullptr) result->counts.Merge(due->counts());
    return result;
  }

 private:
  client::RestClient client_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<LoadTarget>> ConnectLoadTarget(
    const std::string& address, const client::ConnectOptions& connection, absl::Time deadline) {
  if (client::IsServerUrl(address)) {
    auto http = client::HttpClient::Connect(address, deadline, connection);
    if (!http.ok()) return http.status();
    return std::make_unique<WebTarget>(*std::move(http));
  }
  auto client = client::Client::Connect(address, deadline, connection);
  if (!client.ok()) return client.status();
  return std::make_unique<GrpcTarget>(*std::move(client));
}

}  // namespace mpsd::bench
