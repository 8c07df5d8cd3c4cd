// HttpEchoServer: an HTTP server of Boost.Beast that does the least possible. Figures H1 and H2 of
// load_tests/README.md compare the daemon's door with it.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"

namespace mpsd::load {

// Serves until destroyed, which cuts open connections. Thread-compatible.
class HttpEchoServer {
 public:
  struct Options {
    std::string address = "127.0.0.1:0";  // port 0: any free one
    uint32_t threads = 1;                 // each with an io_context of its own
    std::string answer;                   // the body of every reply; empty: the request's
  };

  // INVALID_ARGUMENT for a malformed address, UNAVAILABLE if it cannot be bound.
  static absl::StatusOr<std::unique_ptr<HttpEchoServer>> Start(Options options);
  ~HttpEchoServer();

  // With the port that was found.
  std::string address() const;

 private:
  using Work = boost::asio::executor_work_guard<boost::asio::io_context::executor_type>;

  explicit HttpEchoServer(Options options);
  boost::system::error_code Listen(const boost::asio::ip::tcp::endpoint& endpoint);
  void Accept();

  const Options options_;
  std::vector<std::unique_ptr<boost::asio::io_context>> contexts_;
  std::vector<Work> work_;
  boost::asio::ip::tcp::acceptor acceptor_;  // on the first thread
  // index of the next connection's context; on the first thread
  size_t next_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace mpsd::load
