#include "server/http/connections/socket_names.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace mpsd {

uint64_t HostOf(int fd) {
  constexpr uint64_t kUnixSockets = 0;
  constexpr uint64_t kThisHost = 1;
  sockaddr_storage address{};
  socklen_t bytes = sizeof(address);
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&address), &bytes) != 0) return kUnixSockets;
  const bool is_v4 = address.ss_family == AF_INET;
  if (!is_v4 && address.ss_family != AF_INET6) return kUnixSockets;
  if (IsLoopback(PeerName(fd))) return kThisHost;
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  if (is_v4 || IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
    const void* const four = is_v4 ? &reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr
                                   : static_cast<const void*>(&v6.sin6_addr.s6_addr[12]);
    uint32_t host = 0;
    std::memcpy(&host, four, sizeof(host));
    return uint64_t{host} << 32 | 1;  // no IPv6 address in use begins so
  }
  uint64_t network = 0;
  std::memcpy(&network, &v6.sin6_addr, sizeof(network));
  return network;
}

std::string PeerName(int fd) {
  sockaddr_storage address{};
  socklen_t bytes = sizeof(address);
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&address), &bytes) != 0) return "";
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &v4.sin_addr, text, sizeof(text));
    return absl::StrCat("ipv4:", text, ":", ntohs(v4.sin_port));
  }
  if (address.ss_family != AF_INET6) return "";
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
    inet_ntop(AF_INET, &v6.sin6_addr.s6_addr[12], text, sizeof(text));
    return absl::StrCat("ipv4:", text, ":", ntohs(v6.sin6_port));
  }
  inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof(text));
  return absl::StrCat("ipv6:[", text, "]:", ntohs(v6.sin6_port));
}

bool IsLoopback(absl::string_view peer) {
  return absl::StartsWith(peer, "ipv4:127.") || absl::StartsWith(peer, "ipv6:[::1]:");
}

bool IsOfThisHost(absl::string_view peer) {
  return absl::StartsWith(peer, "unix:") || IsLoopback(peer);
}

}  // namespace mpsd
