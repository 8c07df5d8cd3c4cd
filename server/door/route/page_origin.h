// PageOrigin: whether a browser's page may call, and which headers the browser expects.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/http/http_request.h"

namespace mpsd {

// With Origin a browser names the site of the page that makes a request. A page of another site
// could have its visitor's browser call a server that only listens on loopback, and takes the
// browser for the visitor. So all requests of such pages are refused, unless the config names their
// site.
enum class PageOrigin : uint8_t {
  kNone,     // from no page, or from one of this server
  kListed,   // from a site that may call; the reply says so
  kForeign,  // from another site
};

// Judges a request's headers; `listed` are the sites that may call, "https://app.example", or "*"
// for all. A proxy may change Host; then Sec-Fetch-Site, which no page can write, says
// "same-origin". It also marks requests of other sites' pages without an Origin, such as for
// images. Only one kind of them is let through: a request for a page of its own. Somebody followed
// a link, and the other page cannot see the answer. Pure.
PageOrigin OriginOf(const HttpRequest& request, const std::vector<std::string>& listed);

// Whether a client on this host calls the server by a name that could be anybody's. If the name
// evil.example stands for 127.0.0.1, a page of http://evil.example has the same origin as this
// server for its browser. So a client on loopback must use an address, localhost, a name below
// localhost or one of `names`. Pure.
bool HasForeignHost(const HttpRequest& request, absl::string_view peer,
                    const std::vector<std::string>& names);

// Whether the browser asks what a page may do, before it sends the page's request. Such a question
// carries no credentials. Pure.
bool IsPreflight(const HttpRequest& request);

// The header lines of each reply to a page that may call, and those added to the reply to its
// preflight. REQUIRES: OriginOf() is kListed. Pure.
std::string OriginHeaders(const HttpRequest& request, const std::vector<std::string>& listed);
std::string PreflightHeaders();

}  // namespace mpsd
