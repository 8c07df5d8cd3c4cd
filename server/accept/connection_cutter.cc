#include "server/accept/connection_cutter.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace mpsd {
namespace {

constexpr absl::Duration kBetweenCuts = absl::Milliseconds(100);

bool IsListener(int fd) {
  int listens = 0;
  socklen_t bytes = sizeof(listens);
  return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &bytes) != 0 || listens != 0;
}

// What a connection's own end is called: "unix:PATH" or ":PORT"; empty for what is none of these.
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

void CutConnections(const std::vector<std::string>& addresses) {
  for (const int fd : OpenDescriptors()) {
    if (!IsListener(fd) && IsOn(LocalName(fd), addresses)) shutdown(fd, SHUT_RDWR);
  }
}

ConnectionCutter::ConnectionCutter(std::vector<std::string> addresses, int64_t after_ns)
    : thread_([this, addresses = std::move(addresses), after_ns] { Main(addresses, after_ns); }) {}

ConnectionCutter::~ConnectionCutter() {
  done_.Notify();
  thread_.join();
}

void ConnectionCutter::Main(const std::vector<std::string>& addresses, int64_t after_ns) {
  absl::Duration wait = absl::Nanoseconds(after_ns);
  while (!done_.WaitForNotificationWithTimeout(wait)) {
    CutConnections(addresses);
    wait = kBetweenCuts;
  }
}

}  // namespace mpsd
