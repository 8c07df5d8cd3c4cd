// OpenSocket: a socket that this process has open; finds whose connections the sockets are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace mpsd {

// The descriptors of the connections that were accepted on one of `addresses`, which are written as
// they were bound. Some may be closed when the function returns. On Linux both functions ask the
// ConnectionTable, and find only connections that the accept guard knows. Thread-safe.
std::vector<int> ConnectionsOn(const std::vector<std::string>& addresses);

// One socket. Its identity is a number of the kernel's that tells it from another socket which gets
// the same descriptor later: the inode on Linux; on macOS, where the inode of every TCP socket is
// 0, the generation count of its connection. Thread-safe.
struct OpenSocket {
  int fd = -1;
  uint64_t identity = 0;

  // True while this very socket is open.
  bool IsOpen() const;
};

// The TCP connections with the client that gRPC calls `peer`. Empty unless the client is on this
// host. Usually one; several where a client connects from one port to several listeners.
// Thread-safe.
std::vector<OpenSocket> SocketsOf(absl::string_view peer);

// Shuts the connection with the client down that gRPC calls `peer`; gRPC then ends it. False when
// there is none: clients of a Unix socket have no names of their own. On macOS it is always false.
// Thread-safe.
bool CutConnectionOf(absl::string_view peer);

}  // namespace mpsd
