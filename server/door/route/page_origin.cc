#include "server/door/route/page_origin.h"

#include <arpa/inet.h>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "server/http/connections/socket_names.h"

namespace mpsd {
namespace {

constexpr char kOrigin[] = "origin";
constexpr char kFetchSite[] = "sec-fetch-site";
constexpr char kAll[] = "*";

bool IsSame(const HttpRequest& request, absl::string_view origin) {
  if (request.Header(kFetchSite) == "same-origin") return true;
  const size_t scheme = origin.find("://");
  return scheme != absl::string_view::npos &&
         absl::EqualsIgnoreCase(origin.substr(scheme + 3), request.Header("host"));
}

bool IsOfOtherSite(const HttpRequest& request) {
  const absl::string_view site = request.Header(kFetchSite);
  if (site != "cross-site" && site != "same-site") return false;
  const bool is_read = request.method == "GET" || request.method == "HEAD";
  return !is_read || request.Header("sec-fetch-mode") != "navigate" ||
         request.Header("sec-fetch-dest") != "document";
}

bool IsAddress(absl::string_view host) {
  in6_addr address;
  if (absl::ConsumePrefix(&host, "[")) {
    return absl::ConsumeSuffix(&host, "]") &&
           inet_pton(AF_INET6, std::string(host).c_str(), &address) == 1;
  }
  return inet_pton(AF_INET, std::string(host).c_str(), &address) == 1;
}

// "localhost:8000" and "[::1]:8000" have a port; any other text is returned whole.
absl::string_view WithoutPort(absl::string_view host) {
  const size_t colon = host.rfind(':');
  if (colon == absl::string_view::npos) return host;
  return absl::c_all_of(host.substr(colon + 1), absl::ascii_isdigit) ? host.substr(0, colon) : host;
}

// "a.localhost", but not a text that a browser would take for a user at another host.
bool IsLocalName(absl::string_view host) {
  const bool is_name = absl::c_all_of(host, [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.' || c == '_';
  });
  return is_name && (absl::EqualsIgnoreCase(host, "localhost") ||
                     absl::EndsWithIgnoreCase(host, ".localhost"));
}

}  // namespace

PageOrigin OriginOf(const HttpRequest& request, const std::vector<std::string>& listed) {
  const size_t count = request.CountOf(kOrigin);
  if (count == 0) {
    const bool is_foreign = IsOfOtherSite(request) && !absl::c_linear_search(listed, kAll);
    return is_foreign ? PageOrigin::kForeign : PageOrigin::kNone;
  }
  const absl::string_view origin = request.Header(kOrigin);
  const bool is_listed =
      absl::c_linear_search(listed, kAll) || absl::c_linear_search(listed, origin);
  if (count == 1 && is_listed) return PageOrigin::kListed;
  return count == 1 && IsSame(request, origin) ? PageOrigin::kNone : PageOrigin::kForeign;
}

bool HasForeignHost(const HttpRequest& request, absl::string_view peer,
                    const std::vector<std::string>& names) {
  const absl::string_view host = WithoutPort(request.Header("host"));
  if (!IsLoopback(peer) || host.empty() || IsAddress(host) || IsLocalName(host)) return false;
  return absl::c_none_of(
      names, [host](const std::string& name) { return absl::EqualsIgnoreCase(host, name); });
}

bool IsPreflight(const HttpRequest& request) {
  return request.method == "OPTIONS" && request.CountOf("access-control-request-method") > 0;
}

std::string OriginHeaders(const HttpRequest& request, const std::vector<std::string>& listed) {
  const bool has_all = absl::c_linear_search(listed, kAll);
  return absl::StrCat(
      "Access-Control-Allow-Origin: ", has_all ? absl::string_view(kAll) : request.Header(kOrigin),
      "\r\nVary: Origin\r\nAccess-Control-Expose-Headers: "
      "Inference-Header-Content-Length, Retry-After, X-Request-Id, grpc-message, grpc-status, "
      "grpc-status-details-bin, traceparent, x-mpsd-truncated\r\n");
}

// "*" is for headers of a client's library, such as "x-stainless-lang" of OpenAI's. It does not
// stand for Authorization, and older browsers do not know it.
std::string PreflightHeaders() {
  return "Access-Control-Allow-Methods: GET, HEAD, POST\r\n"
         "Access-Control-Allow-Headers: Authorization, Content-Encoding, Content-Type, "
         "Grpc-Encoding, Grpc-Timeout, Inference-Header-Content-Length, Request-Timeout, "
         "X-Api-Key, "
         "X-Grpc-Web, X-Request-Id, X-User-Agent, traceparent, *\r\n"
         "Access-Control-Max-Age: 600\r\n";
}

}  // namespace mpsd
