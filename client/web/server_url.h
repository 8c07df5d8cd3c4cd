// ServerUrl: where a server of HTTP is, as a user writes it.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mpsd::client {

// A value.
struct ServerUrl {
  bool tls = false;
  std::string host;  // without the brackets of an IPv6 address
  std::string port;  // a number

  // "127.0.0.1:8000", "[::1]:8000": as the header Host has it.
  std::string Authority() const;
};

// Whether an address is meant as one of HTTP: it begins with "http://" or "https://". Pure.
bool IsServerUrl(absl::string_view text);

// "http://127.0.0.1:8000", "https://[::1]:8443", "http://localhost/". Without a port it is that of
// the scheme, 80 or 443. INVALID_ARGUMENT for another scheme, a path, a name of a user, or a port
// that is no number from 1 to 65535. Pure.
absl::StatusOr<ServerUrl> ParseServerUrl(absl::string_view text);

}  // namespace mpsd::client
