#include "server/http/connections/address_probe.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>

#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "proto/base/fd.h"

namespace mpsd {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

// 0: it can be bound, or the reason does not concern this process.
int BindError(const addrinfo& info) {
  const UniqueFd fd(socket(info.ai_family, SOCK_STREAM, 0));
  if (fd.get() < 0) return 0;  // for example, a host without IPv6
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  return bind(fd.get(), info.ai_addr, info.ai_addrlen) == 0 ? 0 : errno;
}

absl::Status SystemError(int code) {
  return absl::UnavailableError(std::generic_category().message(code));
}

// A killed daemon leaves only the file.
bool IsServed(const std::string& path) {
  const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  if (path.size() >= sizeof(address.sun_path)) return false;
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  return connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

// A server removes a socket that it finds there, but no other file.
absl::Status ProbePath(const std::string& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) == 0 && !S_ISSOCK(info.st_mode)) {
    return absl::UnavailableError("there is a file that is no socket");
  }
  if (IsServed(path)) return SystemError(EADDRINUSE);
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return access(folder.c_str(), W_OK | X_OK) == 0 ? absl::OkStatus() : SystemError(errno);
}

}  // namespace

absl::Status ProbeAddress(const std::string& address) {
  absl::string_view path = address;
  if (absl::ConsumePrefix(&path, "unix:")) return ProbePath(std::string(path));
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) return absl::OkStatus();
  const std::string port = address.substr(colon + 1);
  if (port == "0") return absl::OkStatus();
  absl::string_view host(address.data(), colon);
  if (absl::ConsumePrefix(&host, "[")) absl::ConsumeSuffix(&host, "]");
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(std::string(host).c_str(), port.c_str(), &hints, &found);
  if (error != 0) return absl::UnavailableError(gai_strerror(error));
  const Addresses addresses(found, freeaddrinfo);
  for (const addrinfo* info = addresses.get(); info != nullptr; info = info->ai_next) {
    const int code = BindError(*info);
    // A name may also stand for a family that this host lacks.
    if (code == 0 || (code == EADDRNOTAVAIL && addresses->ai_next != nullptr)) continue;
    return SystemError(code);
  }
  return absl::OkStatus();
}

}  // namespace mpsd
