#include "client/connect_fault.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

namespace mpsd::client {
namespace {

bool HasOneOf(absl::string_view text, absl::Span<const absl::string_view> parts) {
  const std::string lower = absl::AsciiStrToLower(text);
  return std::any_of(parts.begin(), parts.end(), [&lower](absl::string_view part) {
    return absl::StrContains(lower, absl::AsciiStrToLower(part));
  });
}

std::string TlsFaultText(absl::string_view address, absl::string_view fault) {
  const std::string certificate = absl::StrCat("the certificate of the server at ", address);
  if (HasOneOf(fault, {"certificate verify failed", "certificate_verify_failed"})) {
    return certificate + " is not trusted: another authority has signed it, or it has expired";
  }
  if (HasOneOf(fault, {"Hostname Verification", "Peer name", "not in peer certificate"})) {
    return certificate + " is for another name";
  }
  if (HasOneOf(fault, {"wrong version number", "wrong_version_number"})) {
    return absl::StrCat("the server at ", address, " speaks no TLS");
  }
  if (HasOneOf(fault,
               {"handshake failed", "Socket closed", "Connection reset", "Endpoint read failed"})) {
    return absl::StrCat("the server at ", address,
                        " hangs up during the TLS handshake; it may speak no TLS, or want a client "
                        "certificate");
  }
  return "";
}

}  // namespace

bool IsPort(absl::string_view text) {
  int port = 0;
  return absl::SimpleAtoi(text, &port) && port >= 1 && port <= 65535;
}

std::string AddressFault(absl::string_view address) {
  // A form of gRPC's own, such as "unix:/path" or "dns:///host:1".
  for (const absl::string_view form :
       {"unix:", "unix-abstract:", "dns:", "ipv4:", "ipv6:", "vsock:", "xds:"}) {
    if (absl::StartsWith(address, form)) return "";
  }
  const size_t colon = address.rfind(':');
  const bool is_address = colon != address.npos && colon > 0 && IsPort(address.substr(colon + 1)) &&
                          !absl::StrContains(address, "//");
  if (is_address) return "";
  return absl::StrCat("'", address,
                      "' is no address of a server; it is HOST:PORT, unix:PATH or "
                      "http(s)://HOST:PORT");
}

std::string ConnectFaultText(absl::string_view address, bool tls, absl::string_view fault) {
  const std::string nobody = absl::StrCat("no server is reachable at ", address);
  if (HasOneOf(fault, {"DNS resolution failed"})) {
    return absl::StrCat(nobody, ": its name cannot be resolved");
  }
  const std::string text = tls ? TlsFaultText(address, fault) : "";
  if (!text.empty()) return text;
  if (!tls && HasOneOf(fault, {"Failed parsing HTTP/2"})) {
    return absl::StrCat("the server at ", address,
                        " speaks no gRPC; if it speaks HTTP, say http://", address);
  }
  if (!tls && HasOneOf(fault, {"Socket closed", "Connection reset"})) {
    return absl::StrCat("the server at ", address, " hangs up; it may want TLS");
  }
  // "failed to connect to all addresses; last error: UNKNOWN: unix:/s: No such file or directory"
  const size_t colon = fault.rfind(": ");
  const absl::string_view reason = colon == fault.npos ? fault : fault.substr(colon + 2);
  return absl::StrCat(nobody, reason.empty() ? "" : ": ", reason);
}

}  // namespace mpsd::client
