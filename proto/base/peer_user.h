// PeerUser: which user runs the process at the other end of a Unix socket. A part of the seam to
// the operating system, implemented in platform_linux.cc and platform_macos.cc.
//
// The daemon's control socket (server/http/connections/control_listener.h) is open to the user that
// runs the daemon and to root. The mode of its file does not ensure that on every system. So the
// user of each connection is checked before a byte is read.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"

namespace mpsd::platform {

// The effective user of the process at the other end of a connected Unix socket. The kernel records
// the user when the peer connects, and the peer cannot change it. For a descriptor that is no such
// socket it returns the system's error; the connection must then be refused. Thread-safe.
absl::StatusOr<uint32_t> PeerUser(int socket);

}  // namespace mpsd::platform
