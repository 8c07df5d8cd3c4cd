// ConnectionCutter: ends a server's connections when its stop has run out of time.
#pragma once

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"

namespace mpsd {

// Shuts down every connection that was accepted on one of `addresses`, which are written as they
// were bound. gRPC closes a connection only when its current write has ended, and so would wait
// forever for a peer that does not read. Only for a server that accepts no further connections.
// Thread-safe.
void CutConnections(const std::vector<std::string>& addresses);

// Waits for `after_ns`, then cuts the connections every 100 ms on a thread of its own, until it is
// destroyed. Lives on the stack of the thread that stops the server. Thread-compatible.
class ConnectionCutter {
 public:
  ConnectionCutter(std::vector<std::string> addresses, int64_t after_ns);
  ~ConnectionCutter();

 private:
  void Main(const std::vector<std::string>& addresses, int64_t after_ns);

  absl::Notification done_;
  std::thread thread_;
};

}  // namespace mpsd
