#include <libproc.h>
#include <sys/proc_info.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "absl/strings/numbers.h"
#include "server/listen/open_sockets.h"
#include "server/listen/socket_names.h"

namespace mpsd {
namespace {

bool IsListener(int fd) {
  int listens = 0;
  socklen_t bytes = sizeof(listens);
  return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &bytes) != 0 || listens != 0;
}

// None if it is no TCP socket. A connection with count 0 could not be told from another, so its
// client is treated like one of another host.
std::optional<uint64_t> IdentityOf(int fd) {
  socket_fdinfo info{};
  const int got = proc_pidfdinfo(getpid(), fd, PROC_PIDFDSOCKETINFO, &info, sizeof(info));
  if (got != static_cast<int>(sizeof(info)) || info.psi.soi_kind != SOCKINFO_TCP) {
    return std::nullopt;
  }
  const uint64_t count = info.psi.soi_proto.pri_tcp.tcpsi_ini.insi_gencnt;
  if (count == 0) return std::nullopt;
  return count;
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

bool OpenSocket::IsOpen() const { return IdentityOf(fd) == identity; }

std::vector<OpenSocket> SocketsOf(absl::string_view peer) {
  std::vector<OpenSocket> sockets;
  const uint32_t port = PortOf(peer);
  if (port == 0) return sockets;
  for (const int fd : OpenDescriptors()) {
    const std::optional<uint64_t> identity = IdentityOf(fd);
    if (identity.has_value() && LocalPeerPort(fd) == port) sockets.push_back({fd, *identity});
  }
  return sockets;
}

bool CutConnectionOf(absl::string_view) { return false; }

}  // namespace mpsd
