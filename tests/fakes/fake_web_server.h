// FakeWebServer: a server of HTTP inside the test, which answers as the test says.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"

namespace mpsd {

// Listens on a free port of 127.0.0.1. The handler is set before Start(), and runs on the server's
// own thread. Thread-safe once it is started.
class FakeWebServer {
 public:
  struct Request {
    std::string line;  // "POST /v1/embeddings"
    std::map<std::string, std::string> headers;
    std::string body;
  };
  struct Reply {
    unsigned code = 200;
    std::string body;
    std::map<std::string, std::string> headers{};
    bool keeps_connection = true;
    bool hangs_up = false;  // there is no reply at all
    bool hangs = false;     // nor an end
    int interim_count = 0;  // replies of 103 that come first
  };

  FakeWebServer();
  ~FakeWebServer();

  // REQUIRES: called once.
  void Start();

  std::string url() const;

  // Those that came so far, in their order.
  std::vector<Request> Requests() const;
  int ConnectionCount() const;

  std::function<Reply(const Request&)> handler;

  // A longer body is answered with 413 before it is read, and the connection cut off, though the
  // reply says that it is kept. Set before Start().
  uint64_t most_body_bytes = 1 << 20;

 private:
  struct Listener;
  class Session;

  void Accept();

  std::unique_ptr<Listener> listener_;
  std::thread thread_;
  mutable absl::Mutex mu_;
  std::vector<Request> requests_ ABSL_GUARDED_BY(mu_);
  int connection_count_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace mpsd
