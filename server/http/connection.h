// Connection, ConnectionContext: a client's connection, as its thread of the HTTP server sees it.
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

// One client's connection. An HttpConnection speaks HTTP/1.1, an Http2Connection HTTP/2. Lives on
// its thread. Owned by its HttpThread, and kept alive by operations that are out.
class Connection {
 public:
  virtual ~Connection() = default;

  virtual void Start() = 0;

  // The client's address: "ipv4:127.0.0.1:40312", "unix:".
  virtual const std::string& peer() const = 0;

  // Whether the time of something that the connection does is up, and what follows then.
  virtual bool IsLate(int64_t now_ns) const = 0;
  virtual void TimeIsUp() = 0;

  // The connection takes one request more at most, and ends with the reply.
  virtual void EndWithReply() = 0;

  // The server stops: a connection without a request ends now, another one with its reply.
  virtual void EndSoon() = 0;

  // Ends the connection now. A request on the connection still gets its reply, which is not
  // written.
  virtual void Cut() = 0;
};

// Shared by the connections of one thread. Constant. The referents outlive the connections.
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
  // Connections with something to write: Http2Connection::FlushNow() is called soon.
  std::vector<std::shared_ptr<Http2Connection>>* unflushed = nullptr;
  std::function<void(Connection*)> ended;  // the connection may be destroyed by it
  // Another object goes on with the client's socket. The first one may be destroyed by it.
  std::function<void(Connection*, std::shared_ptr<Connection>)> replaced;
};

// The client at the other end: handed on when a connection turns out to speak HTTP/2.
struct ConnectionClient {
  std::unique_ptr<HttpStream> stream;
  std::string peer;                            // "ipv4:127.0.0.1:40312", "unix:"
  std::vector<std::string> certificate_names;  // known once the handshake is over
  std::shared_ptr<ConnectionShares::Use> use;
  const HttpGroup* group = nullptr;  // the address's; outlives the connection
  bool by_control_socket = false;
  int64_t end_at_ns = INT64_MAX;  // the connection's age
};

// Once the last bytes for a client were written, the server reads on for so long. Otherwise the
// client might get a reset instead of these bytes.
inline constexpr int64_t kLingerNs = kNsPerSecond;

// `time_ns` from `now_ns` on; INT64_MAX is forever. Pure.
inline int64_t After(int64_t now_ns, int64_t time_ns) {
  return time_ns > INT64_MAX - now_ns ? INT64_MAX : now_ns + time_ns;
}

}  // namespace mpsd
