// HttpServer: the daemon's HTTP server, independent of what it serves.
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

// Listeners, certificates, and a few threads with their connections. HTTP/1.0, 1.1 and 2, over TCP,
// Unix sockets and TLS; keep-alive, pipelines, streams. Boost.Asio moves the bytes. Boost.Beast
// reads heads and chunks (decision 0048), nghttp2 reads frames. All three stay inside this folder.
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
// All addresses share the threads, except addresses with a thread of their own: there, large bodies
// at other addresses delay no probe. The control socket takes this process's user and root alone.
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

  // The group's addresses in use, with the ports chosen for port 0. REQUIRES: the server was
  // started with that group.
  const std::vector<std::string>& bound(size_t group) const;

  // Number of connections at the group's addresses; 0 without such a group. Thread-safe, except
  // during Start().
  uint32_t connection_count(size_t group) const;

  // Bytes of held bodies. Thread-safe.
  uint64_t body_bytes() const;

  // Ends the connection with this client, which does not read its answers. Clients of Unix sockets
  // have no address, and stay. Thread-safe, except during Start() and Stop().
  void CutReader(const std::string& peer);

  // The sockets, for a process that is to accept at them too. Valid until Stop().
  struct Listener {
    std::string asked;  // address as the options have it
    const ListeningSocket* socket;
  };
  std::vector<Listener> listeners() const;

  // Leaves newcomers to another process, which accepts at the same sockets already.
  void StopAccepting();

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
