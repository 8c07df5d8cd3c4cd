// LocalName, PeerName: names of a socket's two ends.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace mpsd {

// A socket's own end: "unix:PATH" or ":PORT"; empty for any other descriptor.
std::string LocalName(int fd);

// Whether a socket with this own end was accepted on one of `addresses`, written as they were
// bound.
bool IsOn(const std::string& name, const std::vector<std::string>& addresses);

// Port of a connection's other end if on this host; else 0.
uint32_t LocalPeerPort(int fd);

// The host at a connection's other end, as a number. All loopback addresses are one host. So are
// IPv6 addresses with the same first 64 bits, and all clients of Unix sockets.
uint64_t HostOf(int fd);

// The other end of a TCP connection: "ipv4:127.0.0.1:40312" or "ipv6:[::1]:40312"; empty for any
// other descriptor.
std::string PeerName(int fd);

// Turns gRPC's name of a client into PeerName()'s form: gRPC may write "ipv6:%5B::1%5D:40312".
std::string WithBrackets(absl::string_view peer);

// The port in gRPC's name of a client: 40312 of "ipv4:127.0.0.1:40312" and "ipv6:[::1]:40312"; else
// 0.
uint32_t PortOf(absl::string_view peer);

}  // namespace mpsd
