// This process's open sockets, and which of them is a connection of whom.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace mpsd {

// The connections that were accepted on one of `addresses`, given as they were bound; some may be
// closed when it returns. Thread-safe.
std::vector<int> ConnectionsOn(const std::vector<std::string>& addresses);

// One socket, told from any other that gets its descriptor later. Thread-safe.
struct OpenSocket {
  int fd = -1;
  uint64_t inode = 0;

  // Whether it is open still.
  bool IsOpen() const;
};

// The connections of TCP whose other end is the port of this host that gRPC calls `peer`: one, or
// several where a client uses a port towards several listeners. None for any other peer.
// Thread-safe.
std::vector<OpenSocket> SocketsOf(absl::string_view peer);

}  // namespace mpsd
