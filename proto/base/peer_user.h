// PeerUser: whose process is at the other end of a Unix socket. A part of the seam to the operating
// system, implemented in platform_linux.cc and platform_macos.cc.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"

namespace mpsd::platform {

// The user of the process at the other end of a connected Unix socket, as of when it connected.
// Thread-safe.
absl::StatusOr<uint32_t> PeerUser(int socket);

}  // namespace mpsd::platform
