// Whose process is at the other end of a Unix socket: a part of the seam to the operating system,
// in platform_linux.cc and platform_macos.cc.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"

namespace mpsd::platform {

// The user whose process is at the other end of a connected Unix socket, or was when it connected.
// Thread-safe.
absl::StatusOr<uint32_t> PeerUser(int socket);

}  // namespace mpsd::platform
