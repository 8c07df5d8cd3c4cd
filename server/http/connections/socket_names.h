// HostOf, PeerName, IsOfThisHost: a connection's other end.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace mpsd {

// All loopback addresses are one host. So are IPv6 addresses with the same first 64 bits, and all
// clients of Unix sockets.
uint64_t HostOf(int fd);

// "ipv4:127.0.0.1:40312" or "ipv6:[::1]:40312"; empty if not TCP.
std::string PeerName(int fd);

bool IsLoopback(absl::string_view peer);

// Clients of Unix sockets, "unix:", are on this host too.
bool IsOfThisHost(absl::string_view peer);

}  // namespace mpsd
