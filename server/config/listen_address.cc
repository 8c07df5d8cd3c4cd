#include "server/config/listen_address.h"

#include <arpa/inet.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace mpsd {
namespace {

constexpr size_t kMaxSocketPathBytes = 107;  // of a sockaddr_un, without the final zero

std::string HostFault(absl::string_view host) {
  if (host.empty()) return "has no host; 0.0.0.0 stands for all of them";
  if (host.front() == '[') {
    in6_addr parsed{};
    const std::string inner(host.substr(1, host.size() - 2));
    if (host.back() == ']' && inet_pton(AF_INET6, inner.c_str(), &parsed) == 1) return "";
    return "has no IPv6 address in its brackets";
  }
  if (absl::StrContains(host, ':')) return "has an IPv6 address, which must stand in brackets";
  const bool plain = std::all_of(host.begin(), host.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '.' || c == '-' || c == '_';
  });
  return plain ? "" : "has a host that is neither a name nor an address";
}

std::string SocketPathFault(absl::string_view path) {
  if (path.empty()) return "has no path";
  if (path.size() <= kMaxSocketPathBytes) return "";
  return absl::StrCat("has a path of ", path.size(), " bytes; a socket's holds at most ",
                      kMaxSocketPathBytes);
}

}  // namespace

bool IsUnixAddress(absl::string_view address) { return absl::StartsWith(address, kUnixScheme); }

bool SameAddress(const std::string& a, const std::string& b) {
  return a == b && (IsUnixAddress(a) || !absl::EndsWith(a, ":0"));
}

std::string AddressFault(const std::string& address, bool unix_allowed) {
  if (IsUnixAddress(address)) {
    if (!unix_allowed) return "must be host:port";
    return SocketPathFault(absl::string_view(address).substr(kUnixScheme.size()));
  }
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || absl::EndsWith(address, "]")) {
    return absl::StrCat("has no port; it must be host:port, [v6]:port",
                        unix_allowed ? " or unix:path" : "");
  }
  const absl::string_view port = absl::string_view(address).substr(colon + 1);
  uint32_t number = 0;
  const bool digits = std::all_of(port.begin(), port.end(), absl::ascii_isdigit);
  if (!digits || !absl::SimpleAtoi(port, &number) || number > 65535) {
    return absl::StrCat("has the port '", port, "'; a port is a number from 0 to 65535");
  }
  return HostFault(absl::string_view(address).substr(0, colon));
}

bool IsOnThisHostOnly(absl::string_view address) {
  if (IsUnixAddress(address)) return true;
  const absl::string_view host = address.substr(0, address.rfind(':'));
  in_addr v4{};
  if (inet_pton(AF_INET, std::string(host).c_str(), &v4) == 1) {
    return ntohl(v4.s_addr) >> 24 == 127;
  }
  return host == "[::1]" || absl::EqualsIgnoreCase(host, "localhost");
}

}  // namespace mpsd
