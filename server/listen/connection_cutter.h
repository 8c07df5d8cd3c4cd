// ConnectionCutter: ends a server's connections when its stop has run out of time.
#pragma once

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"

namespace mpsd {

// Shuts down every connection that was accepted on one of `addresses`, given as they were bound.
// gRPC closes a connection only after the write that it is in, and so would wait without end for a
// peer that does not read. Thread-safe; only for a server that accepts nothing any more.
void CutConnections(const std::vector<std::string>& addresses);

// Cuts the connections again and again once `after_ns` are over, until it is destroyed.
// Thread-compatible. Lives on the stack of whoever stops the server.
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
