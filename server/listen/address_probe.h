// ProbeAddress: whether an address can be listened on, before gRPC tries.
//
// gRPC only says that it could not, and writes its own lines to stderr. So GrpcServer first binds
// the socket here, as gRPC does, and closes it. In between, another process can take the port;
// gRPC's own failure covers that.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace mpsd {

// OK if each TCP address that `address`, a "host:port", stands for can be bound. "localhost" stands
// for two: gRPC would be content with one, and clients might reach another process at the other.
// For "unix:/path" OK if its folder is writable and holds no other file there than a socket, which
// gRPC would replace. UNAVAILABLE has the system's words, such as "Address already in use". Blocks
// while the host's name is resolved. Thread-safe.
absl::Status ProbeAddress(const std::string& address);

}  // namespace mpsd
