// HttpServer: the daemon's HTTP server, independent of what it serves.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/base/clock.h"
#include "server/entry/completion_source.h"
#include "server/http/http_call.h"
#include "server/http/http_options.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// Listeners, certificates, and a few threads with their connections. HTTP/1.0, 1.1 and 2, over TCP,
// Unix sockets and TLS; keep-alive, pipelines, streams. Boost.Asio moves the bytes. Boost.Beast
// reads heads and chunks (decision 0022), nghttp2 reads frames. All three stay inside this folder.
//
//   bounded are                          by
//   connections                          their number, and that of each host: ConnectionShares
//   the head of a request                its bytes and its time
//   the body                             its bytes, the bytes of all bodies and of
//                                        those of one host, its time
//   replies                              the time to take one; a connection of HTTP/1.1 has one at
//                                        a time, one of HTTP/2 its streams
//   frames that cost more than bytes     FrameMeter
//   connections without a request        their idle time, their age
//
// All addresses share the threads, except the last of several without TLS. That one has a thread of
// its own, so that large bodies at one address delay no probe there.
//
// Stop() works from the outside in: listeners close, connections without a request end, the others
// end with their reply or after the grace.
//
// Owned by the daemon, which calls it from its main thread. Thread-compatible.
class HttpServer {
 public:
  // The referents outlive the server.
  HttpServer(HandlerMaker make_handler, CompletionSource* completions, ServerMetrics* metrics,
             const Clock* clock);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Binds all addresses, starts the threads and takes requests. Called once. UNAVAILABLE names an
  // address that cannot be bound.
  absl::Status Start(const HttpServerOptions& options);

  // The addresses in use, with the ports chosen for port 0; first those without TLS.
  const std::vector<std::string>& bound() const;

  // Number of connections. Thread-safe, except during Start() and the end of Stop().
  uint32_t connection_count() const;

  // Bytes of held bodies. Thread-safe.
  uint64_t body_bytes() const;

  // From now on each reply is the last of its connection, so that clients go elsewhere. Connections
  // and requests still come, because probes need answers.
  void StopKeeping();

  // Blocks until all connections are gone and the threads are joined. Requests inside must end
  // meanwhile, as cancelled ones do. Idempotent.
  void Stop(int64_t grace_ns);

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace mpsd
