#include "client/web/server_url.h"

#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/connect_fault.h"

namespace mpsd::client {
namespace {

// Takes it from the front of `rest`; IPv6 stands in brackets.
std::string TakeHost(absl::string_view* rest) {
  const bool has_brackets = absl::ConsumePrefix(rest, "[");
  const size_t end = rest->find(has_brackets ? ']' : ':');
  const std::string host(rest->substr(0, end));
  rest->remove_prefix(host.size());
  if (has_brackets && !absl::ConsumePrefix(rest, "]")) return "";
  return host;
}

}  // namespace

std::string ServerUrl::Authority() const {
  const bool is_ipv6 = absl::StrContains(host, ':');
  return is_ipv6 ? absl::StrCat("[", host, "]:", port) : absl::StrCat(host, ":", port);
}

bool IsServerUrl(absl::string_view text) {
  return absl::StartsWith(text, "http://") || absl::StartsWith(text, "https://");
}

absl::StatusOr<ServerUrl> ParseServerUrl(absl::string_view text) {
  const absl::Status wrong = absl::InvalidArgumentError(
      absl::StrCat(text, ": http://HOST:PORT or https://HOST:PORT is expected"));
  ServerUrl url;
  absl::string_view rest = text;
  if (absl::ConsumePrefix(&rest, "https://")) {
    url.tls = true;
  } else if (!absl::ConsumePrefix(&rest, "http://")) {
    return wrong;
  }
  absl::ConsumeSuffix(&rest, "/");
  url.host = TakeHost(&rest);
  url.port = url.tls ? "443" : "80";
  if (absl::ConsumePrefix(&rest, ":")) {
    url.port = std::string(rest);
    rest = "";
  }
  const bool is_name = url.host.find_first_of("/@?# \r\n") == std::string::npos;
  if (url.host.empty() || !is_name || !rest.empty() || !IsPort(url.port)) return wrong;
  return url;
}

}  // namespace mpsd::client
