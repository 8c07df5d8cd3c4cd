#include <sys/socket.h>
#include <sys/stat.h>

#include <optional>

#include "server/listen/connection_table.h"
#include "server/listen/open_sockets.h"
#include "server/listen/socket_names.h"

namespace mpsd {
namespace {

std::optional<uint64_t> IdentityOf(int fd) {
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISSOCK(info.st_mode)) return std::nullopt;
  return static_cast<uint64_t>(info.st_ino);
}

}  // namespace

std::vector<int> ConnectionsOn(const std::vector<std::string>& addresses) {
  std::vector<int> connections;
  ConnectionTable::OfProcess().ForEach(
      [&connections, &addresses](int fd, const ConnectionPlace& place) {
        if (IsOn(place.local_name(), addresses)) connections.push_back(fd);
      });
  return connections;
}

bool OpenSocket::IsOpen() const { return IdentityOf(fd) == identity; }

std::vector<OpenSocket> SocketsOf(absl::string_view peer) {
  std::vector<OpenSocket> sockets;
  const uint32_t port = PortOf(peer);
  if (port == 0) return sockets;
  ConnectionTable::OfProcess().ForEach([&sockets, port](int fd, const ConnectionPlace& place) {
    if (place.local_peer_port() != port) return;
    const std::optional<uint64_t> identity = IdentityOf(fd);
    if (identity.has_value()) sockets.push_back({fd, *identity});
  });
  return sockets;
}

bool CutConnectionOf(absl::string_view peer) {
  const std::string name = WithBrackets(peer);
  bool found = false;
  ConnectionTable::OfProcess().ForEach([&name, &found](int fd, const ConnectionPlace& place) {
    if (place.DoIfWith(name, [fd] { shutdown(fd, SHUT_RDWR); })) found = true;
  });
  return found;
}

}  // namespace mpsd
