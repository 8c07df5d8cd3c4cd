#include "server/listen/address_probe.h"

#include <netdb.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "proto/base/fd.h"

namespace mpsd {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

// What keeps the address from being bound; 0: nothing, or nothing that concerns this process.
int BindError(const addrinfo& info) {
  const UniqueFd fd(socket(info.ai_family, SOCK_STREAM, 0));
  if (fd.get() < 0) return 0;  // for example, a host without IPv6
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  return bind(fd.get(), info.ai_addr, info.ai_addrlen) == 0 ? 0 : errno;
}

}  // namespace

absl::Status ProbeAddress(const std::string& address) {
  const size_t colon = address.rfind(':');
  if (absl::StartsWith(address, "unix:") || colon == std::string::npos) return absl::OkStatus();
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
    // A name may stand for an address of the other family that this host does not have.
    if (code == 0 || (code == EADDRNOTAVAIL && addresses->ai_next != nullptr)) continue;
    return absl::UnavailableError(std::generic_category().message(code));
  }
  return absl::OkStatus();
}

}  // namespace mpsd
