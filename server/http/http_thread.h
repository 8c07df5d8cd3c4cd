// HttpThread: one thread of the HTTP server, with its connections.
#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/patience.h"
#include "proto/base/platform.h"
#include "proto/base/thread_role.h"
#include "server/http/calls/completion_source.h"
#include "server/http/connection.h"

namespace mpsd {

// The door's main loop, `http-N`. Between a few events of its connections it looks for completed
// batches, and takes the replies that have come from any thread. Connections write once a round,
// whatever they have by then. A connection lives on one thread from start to end. While there are
// connections, it checks their time limits five times a second.
//
// Owned by the HttpServer. Any thread may call Add(), StopKeeping(), EndSoon(), Cut() and
// Shutdown(), which take effect on this one.
class HttpThread {
 public:
  // Shared by all threads. The referents outlive the thread.
  struct Services {
    const HttpServerOptions* options = nullptr;
    CompletionSource* completions = nullptr;
    HeldBytes* bodies = nullptr;
    ServerMetrics* metrics = nullptr;
    const Clock* clock = nullptr;
  };

  HttpThread(int index, const Services& services, const HandlerMaker& make_handler);

  // Gets what the thread sleeps in. REQUIRES: called once, before Start().
  absl::Status Open();

  // The thread runs from now on, if it did not. Until then it does nothing of what it was told.
  // False: the system has no thread left. REQUIRES: one caller at a time.
  bool Start();

  // Takes an accepted connection, and owns its socket from now on. The client has no stream yet.
  // Its use has left when the connection has ended.
  void Add(int fd, int family, std::shared_ptr<boost::asio::ssl::context> tls,
           ConnectionClient client);

  // From now on each reply is the last of its connection.
  void StopKeeping();

  // Connections without a request end now, others with their reply.
  void EndSoon();

  // All connections end now.
  void Cut();

  // The connection with this client ends now, if it is this thread's.
  void CutConnectionOf(const std::string& peer);

  // The thread ends. REQUIRES: no connection is left, and none comes.
  void Shutdown();
  void Join();

  uint32_t connection_count() const { return count_.load(std::memory_order_acquire); }
  boost::asio::io_context* io() { return &io_; }

 private:
  static constexpr int kLookEveryMs = 200;
  // One read, so that no connection keeps its thread for long.
  static constexpr size_t kReadBytes = 64 << 10;

  void Main();
  bool LooksOn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(role_);
  void Sleep() ABSL_EXCLUSIVE_LOCKS_REQUIRED(role_);
  void Listen() ABSL_EXCLUSIVE_LOCKS_REQUIRED(role_);
  size_t RunSome();
  size_t WriteReplies();
  void LookSoon() ABSL_EXCLUSIVE_LOCKS_REQUIRED(role_);
  void Look();
  void Ended(Connection* connection) ABSL_EXCLUSIVE_LOCKS_REQUIRED(role_);
  void Replaced(Connection* connection, std::shared_ptr<Connection> next)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(role_);
  void Begin(std::shared_ptr<Connection> connection) ABSL_EXCLUSIVE_LOCKS_REQUIRED(role_);

  const int index_;
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  ThreadRole role_;
  CompletionSource* const completions_;
  const std::unique_ptr<HttpHandler> handler_;
  std::string read_buffer_ = std::string(kReadBytes, '\0');
  ReplyQueue replies_{&io_};
  // The workers' bells ring there while this thread hears them. `ear_wait_` has its descriptor.
  platform::Poller ear_;
  boost::asio::posix::stream_descriptor ear_wait_;
  bool listens_ ABSL_GUARDED_BY(role_) = false;  // a wait for the ear is under way
  bool rung_ ABSL_GUARDED_BY(role_) = false;
  Patience patience_ ABSL_GUARDED_BY(role_);
  std::vector<std::shared_ptr<Http2Connection>> unflushed_ ABSL_GUARDED_BY(role_);
  ConnectionContext context_;
  std::atomic<uint32_t> count_{0};  // with those that are on their way here

  absl::flat_hash_map<Connection*, std::shared_ptr<Connection>> connections_ ABSL_GUARDED_BY(role_);
  boost::asio::steady_timer timer_ ABSL_GUARDED_BY(role_);
  bool looks_ ABSL_GUARDED_BY(role_) = false;  // the timer is set
  bool keeps_ ABSL_GUARDED_BY(role_) = true;   // connections stay open after a reply
  bool ending_ ABSL_GUARDED_BY(role_) = false;
  std::thread thread_;
};

}  // namespace mpsd
