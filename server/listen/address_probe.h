// ProbeAddress: whether an address can be listened on, found out before gRPC tries.
//
// gRPC says only that it could not, and writes lines of its own to stderr. So GrpcServer asks here
// first: the socket is bound as gRPC binds one, and closed again. Between the two another process
// can take the port; gRPC's own failure is for that.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace mpsd {

// OK when each TCP address that `address`, a "host:port", stands for can be bound. "localhost"
// stands for two: gRPC would be content with one, and clients might reach another process at the
// other. Of "unix:/path" OK when its folder can be written to and no other file is there than a
// socket, which gRPC would replace. UNAVAILABLE has the system's words, such as "Address already in
// use". Blocks while the host's name is resolved. Thread-safe.
absl::Status ProbeAddress(const std::string& address);

}  // namespace mpsd
