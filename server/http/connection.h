// Connection, ConnectionContext: a client's connection, as its thread sees it.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proto/base/clock.h"
#include "proto/base/thread_role.h"
#include "server/http/connections/connection_shares.h"
#include "server/http/http_call.h"
#include "server/http/http_options.h"
#include "server/http/http_stream.h"
#include "server/http/reply_queue.h"
#include "server/request/held_bytes.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

class Http2Connection;

// Lives on its thread. Owned by its HttpThread, and kept alive by operations under way.
class Connection {
 public:
  virtual ~Connection() = default;

  virtual void Start() = 0;

  virtual const std::string& peer() const = 0;

  // Whether the time of something that the connection does is up.
  virtual bool IsLate(int64_t now_ns) const = 0;
  virtual void TimeIsUp() = 0;

  // At most one request more is served.
  virtual void EndWithReply() = 0;

  // A connection without a request ends now, another one with its reply.
  virtual void EndSoon() = 0;

  // Ends now; a request still gets its reply, which is not written.
  virtual void Cut() = 0;
};

// Constant. The referents outlive the connections.
struct ConnectionContext {
  const HttpServerOptions* options = nullptr;
  boost::asio::io_context* io = nullptr;
  const ThreadRole* thread = nullptr;
  HttpHandler* handler = nullptr;
  HeldBytes* bodies = nullptr;
  ServerMetrics* metrics = nullptr;
  const Clock* clock = nullptr;
  std::string* read_buffer = nullptr;  // for one read at a time
  ReplyQueue* replies = nullptr;
  // connections whose FlushNow() follows soon
  std::vector<std::shared_ptr<Http2Connection>>* unflushed = nullptr;
  std::function<void(Connection*)> ended;  // may destroy the connection
  // Another object goes on with the socket. May destroy the connection.
  std::function<void(Connection*, std::shared_ptr<Connection>)> replaced;
};

// Handed on if a connection turns out to speak HTTP/2.
struct ConnectionClient {
  std::unique_ptr<HttpStream> stream;
  std::string peer;
  std::vector<std::string> certificate_names;  // after the handshake
  std::shared_ptr<ConnectionShares::Use> use;
  const HttpGroup* group = nullptr;  // outlives the connection
  bool by_control_socket = false;
  int64_t end_at_ns = INT64_MAX;  // the connection's age
};

// The server reads on after the last bytes. Otherwise the client might get a reset instead of
// these.
inline constexpr int64_t kLingerNs = kNsPerSecond;

// INT64_MAX is forever. Pure.
inline int64_t After(int64_t now_ns, int64_t time_ns) {
  return time_ns > INT64_MAX - now_ns ? INT64_MAX : now_ns + time_ns;
}

}  // namespace mpsd
