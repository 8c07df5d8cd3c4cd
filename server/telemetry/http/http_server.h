// HttpServer: the admin port. Answers probes and scrapes.
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

// The gate that requests pass, and where refusals go. Without a gate everybody is allowed.
struct HttpAccess {
  const Gate* gate = nullptr;
  RefusalLog* refusals = nullptr;  // REQUIRES: set if the gate is
};

// Serves GET and HEAD of
//   /metrics                   Prometheus' text
//   /livez, /v2/health/live    200 "ok", or 503
//   /readyz, /v2/health/ready  200 "ok", or 503 with {"ready", "reason", "unready_models"}
// Another path is 404, another method 405. While rules are in force, every request passes the gate
// first, also one for an unknown path: 401 without a valid token, 403 without the role. A
// connection carries one request: 8 KiB of header, 1 s to send them. 32 threads answer, so that a
// probe is answered beside that many slow clients; as many connections again wait for a thread.
//
// GET and HEAD differ in the body alone. Every answer says "no-store", so that no proxy keeps a
// probe's answer.
//
// Never carries inference and never touches the request's path. Owned by the daemon. Thread-safe
// after Start(). The destructor waits for the requests inside; it connects to the port itself until
// civetweb's accepting thread, which looks for the end every two seconds only, has woken up.
class HttpServer {
 public:
  // Listens on `address`: "host:port", or "[host]:port" if civetweb has IPv6 (Debian's has none).
  // Port 0 takes a free port. `page`, `health` and the referents of `access` outlive the server.
  // INVALID_ARGUMENT if the address has another form, UNAVAILABLE if it is busy or not of this
  // host.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const std::string& address,
                                                           const MetricsPage* page,
                                                           HealthSource* health,
                                                           HttpAccess access = {});
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // The port that the server listens on.
  uint16_t port() const;

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

}  // namespace mpsd
