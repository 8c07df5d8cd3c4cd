// SetSocketOptions: sets how the kernel treats a connection's socket.
#pragma once

#include <cstdint>

namespace mpsd {

// For TCP: small writes go at once, and a client that is silent for `keepalive_ns` is probed. If it
// neither answers nor acknowledges bytes for 20 s, it is gone, as with gRPC, and the connection
// ends. With 0 there are no probes. Does nothing to a Unix socket. Thread-safe.
void SetSocketOptions(int fd, int family, int64_t keepalive_ns);

}  // namespace mpsd
