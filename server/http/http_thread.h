// HttpThread: a thread `http-N`, the door's main loop.
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

// Looks for completed batches and takes replies between a few events of its connections.
// Connections write once a round, and their time limits are checked five times a second. A
// connection never changes its thread.
//
// Owned by the HttpServer. Lives on its own thread, except Add(), StopKeeping(), EndSoon(), Cut()
// and Shutdown(), which are thread-safe.
class HttpThread {
 public:
  // The referents outlive the thread.
  struct Services {
    const HttpServerOptions* options = nullptr;
    CompletionSource* completions = nullptr;
    HeldBytes* bodies = nullptr;
    ServerMetrics* metrics = nullptr;
    const Clock* clock = nullptr;
  };

  HttpThread(int index, const Services& services, const HandlerMaker& make_handler);

  // REQUIRES: called once, before Start().
  absl::Status Open();

  // Runs from now on, if it did not; until then nothing that it was told happens. False: the system
  // has no thread left. REQUIRES: one caller at a time.
  bool Start();

  // Takes an accepted socket. The client has no stream yet. Its use leaves when the connection
  // ends.
  void Add(int fd, int family, std::shared_ptr<boost::asio::ssl::context> tls,
           ConnectionClient client);

  // From now on each reply is its connection's last.
  void StopKeeping();

  // Connections without a request end now, others with their reply.
  void EndSoon();

  void Cut();

  // Only if the connection is this thread's.
  void CutConnectionOf(const std::string& peer);

  // REQUIRES: no connection is left, and none comes.
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
  // Workers' bells ring here. `ear_wait_` has its descriptor.
  platform::Poller ear_;
  boost::asio::posix::stream_descriptor ear_wait_;
  bool listens_ ABSL_GUARDED_BY(role_) = false;
  bool rung_ ABSL_GUARDED_BY(role_) = false;
  Patience patience_ ABSL_GUARDED_BY(role_);
  std::vector<std::shared_ptr<Http2Connection>> unflushed_ ABSL_GUARDED_BY(role_);
  ConnectionContext context_;
  std::atomic<uint32_t> count_{0};  // with those on their way here

  absl::flat_hash_map<Connection*, std::shared_ptr<Connection>> connections_ ABSL_GUARDED_BY(role_);
  boost::asio::steady_timer timer_ ABSL_GUARDED_BY(role_);
  bool looks_ ABSL_GUARDED_BY(role_) = false;  // the timer is set
  bool keeps_ ABSL_GUARDED_BY(role_) = true;   // connections stay open after a reply
  bool ending_ ABSL_GUARDED_BY(role_) = false;
  std::thread thread_;
};

}  // namespace mpsd
