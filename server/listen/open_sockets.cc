#include "server/listen/open_sockets.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace mpsd {
namespace {

bool IsListener(int fd) {
  int listens = 0;
  socklen_t bytes = sizeof(listens);
  return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &bytes) != 0 || listens != 0;
}

// The name of a socket's own end: "unix:PATH" or ":PORT"; empty for any other descriptor.
std::string LocalName(int fd) {
  sockaddr_storage address{};
  socklen_t bytes = sizeof(address);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &bytes) != 0) return "";
  switch (address.ss_family) {
    case AF_INET:
      return absl::StrCat(":", ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port));
    case AF_INET6:
      return absl::StrCat(":", ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port));
    case AF_UNIX:
      return absl::StrCat("unix:", reinterpret_cast<const sockaddr_un&>(address).sun_path);
    default:
      return "";
  }
}

bool IsOn(const std::string& name, const std::vector<std::string>& addresses) {
  return std::any_of(addresses.begin(), addresses.end(), [&name](const std::string& address) {
    if (absl::StartsWith(address, "unix:")) return name == address;
    return name == address.substr(address.rfind(':'));
  });
}

std::optional<uint64_t> InodeOf(int fd) {
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISSOCK(info.st_mode)) return std::nullopt;
  return static_cast<uint64_t>(info.st_ino);
}

// The port of the connection's other end, if that is on this host; 0 otherwise.
uint32_t LocalPeerPort(int fd) {
  sockaddr_storage address{};
  socklen_t bytes = sizeof(address);
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&address), &bytes) != 0) return 0;
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    return ntohl(v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET ? ntohs(v4.sin_port) : 0;
  }
  if (address.ss_family != AF_INET6) return 0;
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  const bool mapped = IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr);
  const bool local =
      mapped ? v6.sin6_addr.s6_addr[12] == IN_LOOPBACKNET : IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
  return local ? ntohs(v6.sin6_port) : 0;
}

// "ipv4:127.0.0.1:40312", "ipv6:[::1]:40312".
uint32_t PortOf(absl::string_view peer) {
  uint32_t port = 0;
  if (!absl::StartsWith(peer, "ipv4:") && !absl::StartsWith(peer, "ipv6:")) return 0;
  return absl::SimpleAtoi(peer.substr(peer.rfind(':') + 1), &port) ? port : 0;
}

std::vector<int> OpenDescriptors() {
  std::vector<int> fds;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/fd", error)) {
    int fd = -1;
    if (absl::SimpleAtoi(entry.path().filename().string(), &fd)) fds.push_back(fd);
  }
  return fds;
}

}  // namespace

std::vector<int> ConnectionsOn(const std::vector<std::string>& addresses) {
  std::vector<int> connections;
  for (const int fd : OpenDescriptors()) {
    if (!IsListener(fd) && IsOn(LocalName(fd), addresses)) connections.push_back(fd);
  }
  return connections;
}

bool OpenSocket::IsOpen() const { return InodeOf(fd) == inode; }

std::vector<OpenSocket> SocketsOf(absl::string_view peer) {
  std::vector<OpenSocket> sockets;
  const uint32_t port = PortOf(peer);
  if (port == 0) return sockets;
  for (const int fd : OpenDescriptors()) {
    const std::optional<uint64_t> inode = InodeOf(fd);
    if (inode.has_value() && LocalPeerPort(fd) == port) sockets.push_back({fd, *inode});
  }
  return sockets;
}

}  // namespace mpsd
