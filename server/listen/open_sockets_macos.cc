#include <sys/socket.h>
#include <sys/stat.h>

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

std::optional<uint64_t> InodeOf(int fd) {
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISSOCK(info.st_mode)) return std::nullopt;
  return static_cast<uint64_t>(info.st_ino);
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

bool CutConnectionOf(absl::string_view) { return false; }

}  // namespace mpsd
