// PageOrigin: whether a browser's page may call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/http/http_request.h"

namespace mpsd {

// A page of another site could use its visitor's browser against a server on loopback. So its
// requests are refused, unless the config names the site.
enum class PageOrigin : uint8_t {
  kNone,    // from no page, or this server's
  kListed,  // from a site that may call; the reply says so
  kForeign,
};

// `listed`: sites that may call, "https://app.example", or "*" for all. A proxy may change Host;
// Sec-Fetch-Site, which no page can write, then says "same-origin". It also marks other sites'
// requests without an Origin. Only a link to a page passes then: the other page cannot see the
// answer. Pure.
PageOrigin OriginOf(const HttpRequest& request, const std::vector<std::string>& listed);

// Whether a client on this host uses a server's name that could be anybody's. If evil.example
// stands for 127.0.0.1, the browser sees one origin. So a client on loopback must use an address,
// localhost, a name below localhost or one of `names`. Pure.
bool HasForeignHost(const HttpRequest& request, absl::string_view peer,
                    const std::vector<std::string>& names);

// Asked by browsers, without credentials, before a page's request. Pure.
bool IsPreflight(const HttpRequest& request);

// For a page that may call, and its preflight. REQUIRES: OriginOf() is kListed. Pure.
std::string OriginHeaders(const HttpRequest& request, const std::vector<std::string>& listed);
std::string PreflightHeaders();

}  // namespace mpsd
