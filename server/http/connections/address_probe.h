// ProbeAddress: whether an address can be listened on, before the server tries.
//
// The HttpServer asks before it opens the sockets of an address. In between, another process can
// take the port; the server's own failure covers that.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace mpsd {

// OK if each TCP address that `address`, a "host:port", stands for can be bound. "localhost" stands
// for two: with one alone, clients might reach another process at the other. For "unix:/path" OK if
// its folder is writable and holds no other file there than a socket, which the server would
// replace. UNAVAILABLE has the system's words, such as "Address already in use". Blocks
// while the host's name is resolved. Thread-safe.
absl::Status ProbeAddress(const std::string& address);

}  // namespace mpsd
