// SetSocketOptions: how the kernel treats a connection's socket.
#pragma once

#include <cstdint>

namespace mpsd {

// For TCP: small writes go at once. After `keepalive_ns` of silence a client is probed, unless that
// is 0; a probe or bytes without an answer for 20 s end the connection. Thread-safe.
void SetSocketOptions(int fd, int family, int64_t keepalive_ns);

}  // namespace mpsd
