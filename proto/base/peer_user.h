// PeerUser: which user runs the process at the other end of a Unix socket, implemented in
// platform_linux.cc and platform_macos.cc.
//
// The daemon's control socket is for the daemon's user and root, which a file's mode does not
// ensure on every system.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"

namespace mpsd::platform {

// The effective user when the peer connected; the peer cannot change it. For anything but such a
// socket the system's error: the connection must be refused. Thread-safe.
absl::StatusOr<uint32_t> PeerUser(int socket);

}  // namespace mpsd::platform
