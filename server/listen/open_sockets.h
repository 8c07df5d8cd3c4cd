// OpenSocket: an open socket of this process, and how to find a connection's sockets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace mpsd {

// Descriptors of the connections that were accepted on one of `addresses`, written as they were
// bound. Some may be closed when the function returns. On Linux both functions ask the
// ConnectionTable, and find only connections that the accept guard knows. Thread-safe.
std::vector<int> ConnectionsOn(const std::vector<std::string>& addresses);

// One socket. Its identity is a kernel number that differs from that of a later socket with the
// same descriptor. On Linux it is the inode. On macOS, where the inode of every TCP socket is 0, it
// is the connection's generation count. Thread-safe.
struct OpenSocket {
  int fd = -1;
  uint64_t identity = 0;

  bool IsOpen() const;
};

// The TCP connections with the client that gRPC calls `peer`. Empty unless the client is on this
// host. Usually one; several if a client connects from one port to several listeners. Thread-safe.
std::vector<OpenSocket> SocketsOf(absl::string_view peer);

// Shuts down the connection with the client that gRPC calls `peer`; gRPC then ends it. False if
// there is none, as for clients of a Unix socket, which have no names. Always false on macOS.
// Thread-safe.
bool CutConnectionOf(absl::string_view peer);

}  // namespace mpsd
