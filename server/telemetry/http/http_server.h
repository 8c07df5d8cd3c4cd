// HttpServer: the admin port, which answers probes and scrapes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/access/gate.h"
#include "server/telemetry/http/health_source.h"
#include "server/telemetry/log/refusal_log.h"
#include "server/telemetry/metrics_page.h"

namespace mpsd {

// Who gets in, and where it is told who did not. Null: everybody.
struct HttpAccess {
  const Gate* gate = nullptr;
  RefusalLog* refusals = nullptr;  // REQUIRES: there, where the gate is
};

// Serves GET and HEAD of
//   /metrics                   Prometheus' text
//   /livez, /v2/health/live    200 "ok", or 503
//   /readyz, /v2/health/ready  200 "ok", or 503 with {"ready", "reason", "unready_models"}
// and nothing else: another path is 404, another method 405. While the gate's rules are in force a
// request passes it first: 401 without valid credentials, which can only be a token, 403 where they
// do not suffice, other paths included. One request a connection, two threads,
// 8 KiB of header and 2 s to send it. Never carries inference and never touches the request's path.
// Owned by main. Thread-safe after Start(); the destructor waits for requests that are under way.
class HttpServer {
 public:
  // Listens on `address`, "host:port", or "[host]:port" where civetweb has IPv6 (Debian's has not);
  // port 0 takes a free one. `page`, `health` and what `access` holds must outlive the server.
  // INVALID_ARGUMENT when the address is none, UNAVAILABLE when it is busy or not this host's.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const std::string& address,
                                                           const MetricsPage* page,
                                                           HealthSource* health,
                                                           HttpAccess access = {});
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // The port that is listened on.
  uint16_t port() const;

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

}  // namespace mpsd
