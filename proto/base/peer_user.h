// PeerUser: whose process is at the other end of a Unix socket. A part of the seam to the operating
// system, implemented in platform_linux.cc and platform_macos.cc.
//
// The control socket of the daemon (server/listen/control_listener.h) is open to the user that runs
// the daemon and to root. Its file's mode alone does not ensure that on every system, so each
// connection is asked for its user before a byte of it is read.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"

namespace mpsd::platform {

// The effective user of the process at the other end of a connected Unix socket, as of when it
// connected: the kernel notes it then, and the peer cannot change it. The error is the system's,
// for a descriptor that is no such socket; the connection must then be refused. Thread-safe.
absl::StatusOr<uint32_t> PeerUser(int socket);

}  // namespace mpsd::platform
