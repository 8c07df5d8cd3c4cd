// SetSocketOptions: how the kernel treats the socket of a connection.
#pragma once

#include <cstdint>

namespace mpsd {

// Of a socket of TCP: small writes go at once, and a client that is silent for `keepalive_ns` is
// asked whether it is alive; one that neither answers nor acknowledges bytes for 20 s then, as with
// gRPC, is gone, and the connection ends. With 0 nobody is asked. Does nothing to a Unix socket.
// Thread-safe.
void SetSocketOptions(int fd, int family, int64_t keepalive_ns);

}  // namespace mpsd
