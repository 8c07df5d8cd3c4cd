// PageOrigin: whether a page of a browser may call, and which headers the browser wants to see.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/http/http_request.h"

namespace mpsd {

// Browsers say with Origin from which site the page comes that makes a request. A page of another
// site could have its visitor's browser call a server that only listens on loopback, and that takes
// the browser for the visitor. So requests of such pages are refused, all of them, unless the
// config names their site.
enum class PageOrigin : uint8_t {
  kNone,     // the request comes from no page, or from one of this server
  kListed,   // from a site that may call: the reply says so
  kForeign,  // from another one
};

// What a request's headers say; `listed` are the sites that may call, "https://app.example", or "*"
// for all. A proxy before the server may change Host; Sec-Fetch-Site, which no page can write, says
// "same-origin" then. It also names the requests of other sites' pages that have no Origin, such as
// those for images; of these only one is let through, that for a page of its own: somebody has
// followed a link, and the other page sees nothing of the answer. Pure.
PageOrigin OriginOf(const HttpRequest& request, const std::vector<std::string>& listed);

// Whether a client on this host calls the server by a name that could be anybody's. Once the name
// evil.example stands for 127.0.0.1, a page of http://evil.example has the same origin as this
// server for its browser. So a client of a loopback address must use an address, localhost, a name
// below localhost or one of `names`. Pure.
bool HasForeignHost(const HttpRequest& request, absl::string_view peer,
                    const std::vector<std::string>& names);

// Whether the browser asks what the page may do, before it sends the page's request. It sends no
// credentials with that. Pure.
bool IsPreflight(const HttpRequest& request);

// The headers, with their line breaks, of each reply to a page that may call, and of the reply to
// its preflight besides. REQUIRES: OriginOf() is kListed. Pure.
std::string OriginHeaders(const HttpRequest& request, const std::vector<std::string>& listed);
std::string PreflightHeaders();

}  // namespace mpsd
