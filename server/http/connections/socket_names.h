// HostOf, PeerName, IsOfThisHost: a connection's other end.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace mpsd {

// The host at a connection's other end, as a number. All loopback addresses are one host. So are
// IPv6 addresses with the same first 64 bits, and all clients of Unix sockets.
uint64_t HostOf(int fd);

// The other end of a TCP connection: "ipv4:127.0.0.1:40312" or "ipv6:[::1]:40312"; empty for any
// other descriptor.
std::string PeerName(int fd);

// Whether a PeerName() is a loopback address.
bool IsLoopback(absl::string_view peer);

// Whether the client is on this host. Clients of a Unix socket are called "unix:".
bool IsOfThisHost(absl::string_view peer);

}  // namespace mpsd
