// LoadTarget: the server that a LoadMeter loads, whatever it speaks.
//
//   "127.0.0.1:8001", "unix:/path"                     gRPC    traffic::CallPump
//   "http://127.0.0.1:8000", "https://host:8443"       HTTP    WebPump
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/bench/load_point.h"
#include "client/client.h"
#include "client/traffic/load_run.h"
#include "client/traffic/request_set.h"

namespace mpsd::bench {

// Each has a thread and a connection.
inline constexpr uint32_t kMostWebClients = 1024;

// Owned by a LoadMeter. Lives on one thread.
class LoadTarget {
 public:
  virtual ~LoadTarget() = default;

  virtual absl::StatusOr<client::ModelMetadata> GetModelMetadata(const std::string& model,
                                                                 absl::Time deadline) = 0;
  virtual absl::StatusOr<client::ModelRuns> GetModelRuns(const std::string& model,
                                                         absl::Time deadline) = 0;

  // Runs as RunLoad(). The `plan` says all but threads, connections, clients and rate.
  // INVALID_ARGUMENT for more clients than the protocol takes.
  virtual absl::StatusOr<traffic::LoadResult> Run(
      const Load& load, const traffic::LoadPlan& plan,
      const std::vector<traffic::PreparedRequest>& requests) = 0;
};

// Errors as Client::Connect()'s and HttpClient::Connect()'s.
absl::StatusOr<std::unique_ptr<LoadTarget>> ConnectLoadTarget(
    const std::string& address, const client::ConnectOptions& connection, absl::Time deadline);

}  // namespace mpsd::bench
