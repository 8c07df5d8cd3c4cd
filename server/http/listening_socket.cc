#include "server/http/listening_socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace mpsd {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

constexpr int kBacklog = 1024;
constexpr mode_t kAnyMode = 0;  // left to the umask
constexpr mode_t kOwnersMode = 0600;

absl::Status SystemError(int code) {
  return absl::UnavailableError(std::generic_category().message(code));
}

void SetPort(uint16_t port, sockaddr_storage* address) {
  if (address->ss_family == AF_INET) {
    reinterpret_cast<sockaddr_in*>(address)->sin_port = htons(port);
  } else if (address->ss_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(address)->sin6_port = htons(port);
  }
}

uint16_t PortOfSocket(int fd) {
  sockaddr_storage address{};
  socklen_t bytes = sizeof(address);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &bytes) != 0) return 0;
  if (address.ss_family == AF_INET)
    return ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
  return ntohs(reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port);
}

void MakeFitForLoop(int fd) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  fcntl(fd, F_SETFD, FD_CLOEXEC);
}

// `before` is called between bind() and listen(): false is a failure.
absl::StatusOr<ListeningSocket> Listen(
    const sockaddr_storage& address, socklen_t bytes,
    const std::function<bool()>& before = [] { return true; }) {
  ListeningSocket listener;
  listener.family = address.ss_family;
  listener.fd.Reset(socket(listener.family, SOCK_STREAM, 0));
  if (!listener.fd.valid()) return SystemError(errno);
  MakeFitForLoop(listener.fd.get());
  const int on = 1;
  setsockopt(listener.fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  const auto* const name = reinterpret_cast<const sockaddr*>(&address);
  if (bind(listener.fd.get(), name, bytes) != 0) return SystemError(errno);
  if (!before() || listen(listener.fd.get(), kBacklog) != 0) return SystemError(errno);
  return listener;
}

absl::StatusOr<std::vector<ListeningSocket>> ListenAtPath(absl::string_view address_text,
                                                          mode_t mode) {
  const std::string path(absl::StripPrefix(address_text, "unix:"));
  sockaddr_storage storage{};
  auto* const address = reinterpret_cast<sockaddr_un*>(&storage);
  if (path.size() >= sizeof(address->sun_path)) return SystemError(ENAMETOOLONG);
  address->sun_family = AF_UNIX;
  std::memcpy(address->sun_path, path.data(), path.size());
  unlink(path.c_str());  // ProbeAddress() saw that any file there is a socket
  absl::StatusOr<ListeningSocket> listener = Listen(storage, sizeof(sockaddr_un), [&] {
    return mode == kAnyMode || chmod(path.c_str(), mode) == 0;
  });
  if (!listener.ok()) return listener.status();
  listener->address = absl::StrCat("unix:", path);
  std::vector<ListeningSocket> listeners;
  listeners.push_back(*std::move(listener));
  return listeners;
}

}  // namespace

absl::StatusOr<std::vector<ListeningSocket>> OpenListeningSockets(const std::string& address) {
  if (absl::StartsWith(address, "unix:")) return ListenAtPath(address, kAnyMode);
  const size_t colon = address.rfind(':');
  absl::string_view host = absl::string_view(address).substr(0, colon);
  if (absl::ConsumePrefix(&host, "[")) absl::ConsumeSuffix(&host, "]");
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(std::string(host).c_str(), address.c_str() + colon + 1, &hints, &found);
  if (error != 0) return absl::UnavailableError(gai_strerror(error));
  const Addresses addresses(found, freeaddrinfo);
  std::vector<ListeningSocket> listeners;
  absl::Status failed;
  for (const addrinfo* info = addresses.get(); info != nullptr; info = info->ai_next) {
    sockaddr_storage storage{};
    std::memcpy(&storage, info->ai_addr, info->ai_addrlen);
    if (!listeners.empty()) SetPort(PortOfSocket(listeners[0].fd.get()), &storage);
    absl::StatusOr<ListeningSocket> listener = Listen(storage, info->ai_addrlen);
    if (!listener.ok()) {
      failed = listener.status();
      continue;
    }
    listener->address =
        absl::StrCat(address.substr(0, colon), ":", PortOfSocket(listener->fd.get()));
    listeners.push_back(*std::move(listener));
  }
  // A name may also stand for a family that this host lacks.
  if (listeners.empty()) return failed;
  return listeners;
}

absl::StatusOr<std::vector<ListeningSocket>> OpenControlSocket(const std::string& address) {
  return ListenAtPath(address, kOwnersMode);
}

UniqueFd AcceptConnection(int listener, bool* needs_descriptor) {
  UniqueFd fd(accept(listener, nullptr, nullptr));
  *needs_descriptor = !fd.valid() && (errno == EMFILE || errno == ENFILE);
  if (fd.valid()) MakeFitForLoop(fd.get());
  return fd;
}

}  // namespace mpsd
