// LocalName, PeerName: what the two ends of a socket are called.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace mpsd {

// The name of a socket's own end: "unix:PATH" or ":PORT"; empty for any other descriptor.
std::string LocalName(int fd);

// True when a socket whose own end has this name was accepted on one of `addresses`, which are
// written as they were bound.
bool IsOn(const std::string& name, const std::vector<std::string>& addresses);

// The port of a connection's other end, if that is on this host; 0 otherwise.
uint32_t LocalPeerPort(int fd);

// The host at a connection's other end, as a number. All addresses of the loopback are one host.
// So are addresses of IPv6 with the same first 64 bits, and all clients of Unix sockets.
uint64_t HostOf(int fd);

// The other end of a TCP connection: "ipv4:127.0.0.1:40312" or "ipv6:[::1]:40312"; empty for any
// other descriptor.
std::string PeerName(int fd);

// Turns gRPC's name of a client into what PeerName() gives: gRPC may write "ipv6:%5B::1%5D:40312".
std::string WithBrackets(absl::string_view peer);

// The port in gRPC's name of a client: 40312 of "ipv4:127.0.0.1:40312" and "ipv6:[::1]:40312"; 0 of
// another name.
uint32_t PortOf(absl::string_view peer);

}  // namespace mpsd
