// ServerUrl: where a server of HTTP is, as a user writes it.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mpsd::client {

// A value.
struct ServerUrl {
  bool tls = false;
  std::string host;  // without IPv6's brackets
  std::string port;  // a number

  // The header Host has this: "127.0.0.1:8000", "[::1]:8000".
  std::string Authority() const;
};

// It begins with "http://" or "https://". Pure.
bool IsServerUrl(absl::string_view text);

// "http://127.0.0.1:8000", "https://[::1]:8443", "http://localhost/". The port is 80 or 443 by
// default. INVALID_ARGUMENT for another scheme, a path, a user, or a port out of 1 to 65535. Pure.
absl::StatusOr<ServerUrl> ParseServerUrl(absl::string_view text);

}  // namespace mpsd::client
