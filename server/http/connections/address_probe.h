// ProbeAddress: whether an address can be listened on, before the server tries.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace mpsd {

// OK if each TCP address of a "host:port" can be bound. If only one of "localhost"'s two could,
// clients might reach another process at the other. For "unix:/path" OK if the folder is writable
// and the path is free or a socket, which the server replaces. UNAVAILABLE has the system's words.
// Blocks while a name is resolved. Thread-safe.
absl::Status ProbeAddress(const std::string& address);

}  // namespace mpsd
