// HttpServer: the admin port, which answers probes and scrapes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/telemetry/health_source.h"
#include "server/telemetry/metrics_page.h"

namespace mpsd {

// Serves GET and HEAD of
//   /metrics                   Prometheus' text
//   /livez, /v2/health/live    200 "ok", or 503
//   /readyz, /v2/health/ready  200 "ok", or 503 with {"ready", "reason", "unready_models"}
// and nothing else: another path is 404, another method 405. One request a connection, two threads,
// 8 KiB of header and 2 s to send it. Never carries inference and never touches the request's path.
// Owned by main. Thread-safe after Start(); the destructor waits for requests that are under way.
class HttpServer {
 public:
  // Listens on `address`, "host:port", or "[host]:port" where civetweb has IPv6 (Debian's has not);
  // port 0 takes a free one. `page` and `health` must outlive the server.
  // INVALID_ARGUMENT when the address is none, UNAVAILABLE when it is busy or not this host's.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const std::string& address,
                                                           const MetricsPage* page,
                                                           HealthSource* health);
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
