#include "server/sd_notify.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "proto/base/fd.h"

namespace mpsd {
namespace {

// The service manager's full socket blocks so long at most.
constexpr timeval kSendTimeout = {.tv_sec = 1, .tv_usec = 0};

absl::Status Error(const char* what) {
  return absl::InternalError(
      absl::StrCat("the service manager's socket: ", what, ": ", std::strerror(errno)));
}

// A line break would begin another assignment.
std::string StatusLine(absl::string_view status) {
  return absl::StrCat("STATUS=", absl::StrReplaceAll(status, {{"\n", " "}, {"\r", " "}}));
}

}  // namespace

ServiceNotifier ServiceNotifier::FromEnvironment() {
  const char* socket = std::getenv("NOTIFY_SOCKET");
  return ServiceNotifier(socket == nullptr ? "" : socket);
}

absl::Status ServiceNotifier::Ready(absl::string_view status) const {
  return Send(absl::StrCat("READY=1\n", StatusLine(status)));
}

absl::Status ServiceNotifier::Reloading(const Clock& clock) const {
  return Send(absl::StrCat("RELOADING=1\nMONOTONIC_USEC=", clock.NowNs() / kNsPerUs));
}

absl::Status ServiceNotifier::HandedOver(int64_t pid) const {
  return Send(absl::StrCat("READY=1\nMAINPID=", pid, "\nSTATUS=serving"));
}

absl::Status ServiceNotifier::Stopping(absl::string_view status) const {
  return Send(absl::StrCat("STOPPING=1\n", StatusLine(status)));
}

absl::Status ServiceNotifier::Send(absl::string_view message) const {
  if (socket_.empty()) return absl::OkStatus();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_.size() >= sizeof(address.sun_path) || (socket_[0] != '/' && socket_[0] != '@')) {
    return absl::InvalidArgumentError(absl::StrCat("NOTIFY_SOCKET names no socket: ", socket_));
  }
  std::copy(socket_.begin(), socket_.end(), address.sun_path);
  if (socket_[0] == '@') address.sun_path[0] = '\0';
  const UniqueFd fd(socket(AF_UNIX, SOCK_DGRAM, 0));
  if (!fd.valid()) return Error("socket");
  fcntl(fd.get(), F_SETFD, FD_CLOEXEC);
  setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &kSendTimeout, sizeof(kSendTimeout));
  const size_t address_bytes = offsetof(sockaddr_un, sun_path) + socket_.size();
  const ssize_t sent =
      sendto(fd.get(), message.data(), message.size(), 0,
             reinterpret_cast<const sockaddr*>(&address), static_cast<socklen_t>(address_bytes));
  if (sent != static_cast<ssize_t>(message.size())) return Error("sendto");
  return absl::OkStatus();
}

}  // namespace mpsd
