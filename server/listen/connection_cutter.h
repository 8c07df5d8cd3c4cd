// ConnectionCutter: ends a server's connections when its stop has run out of time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"

namespace mpsd {

// Shuts down every connection that was accepted on one of `addresses`, written as they were bound.
// By itself, gRPC closes a connection only after its current write, and so would wait forever for a
// peer that does not read. Only for a server that accepts no further connections. Thread-safe.
void CutConnections(const std::vector<std::string>& addresses);

// On a thread of its own, cuts the connections every 100 ms until it is destroyed. It begins once
// `after_ns` have passed, or once no call has been open for 1 s. By then every client that follows
// the protocol has closed its connection. Lives on the stack of the thread that stops the server.
// Thread-compatible.
class ConnectionCutter {
 public:
  // `has_calls` says whether a call is open. It is thread-safe, and outlives the cutter.
  ConnectionCutter(std::vector<std::string> addresses, int64_t after_ns,
                   std::function<bool()> has_calls);
  ~ConnectionCutter();

 private:
  void Main(int64_t after_ns) const;

  const std::vector<std::string> addresses_;
  const std::function<bool()> has_calls_;
  absl::Notification done_;
  std::thread thread_;
};

}  // namespace mpsd
