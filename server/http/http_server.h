// HttpServer: listeners, certificates, and threads with their connections.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/base/clock.h"
#include "server/http/calls/completion_source.h"
#include "server/http/http_call.h"
#include "server/http/http_options.h"
#include "server/http/listening_socket.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// Boost.Asio, Boost.Beast (decision 0048) and nghttp2 stay inside this folder.
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
// Addresses share the threads, unless they have their own, where large bodies delay no probe.
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

  // Called once. UNAVAILABLE names an address that cannot be bound.
  absl::Status Start(const HttpServerOptions& options);

  // With the ports chosen for port 0. REQUIRES: started with that group.
  const std::vector<std::string>& bound(size_t group) const;

  // 0 without such a group. Thread-safe, except during Start().
  uint32_t connection_count(size_t group) const;

  // Bytes of held bodies. Thread-safe.
  uint64_t body_bytes() const;

  // Ends the connection with this client, which does not read its answers. Clients of Unix sockets
  // have no address, and stay. Thread-safe, except during Start() and Stop().
  void CutReader(const std::string& peer);

  // For a process that is to accept at them too. Valid until Stop().
  struct Listener {
    std::string asked;  // as the options have it
    const ListeningSocket* socket;
  };
  std::vector<Listener> listeners() const;

  // Another process accepts at the same sockets already.
  void StopAccepting();

  // From now on each reply is its connection's last, so that clients go elsewhere. Requests still
  // come, because probes need answers.
  void StopKeeping();

  // Closes listeners, then connections without a request, then others with their reply or after the
  // grace. Blocks until the threads are joined. Requests inside must end meanwhile. Idempotent.
  void Stop(int64_t grace_ns);

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace mpsd
