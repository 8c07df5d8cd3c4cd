#include "server/door/route/page_origin.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/http/http_parser.h"

namespace mpsd {
namespace {

const std::vector<std::string>& Sites() {
  static const auto* const sites =
      new std::vector<std::string>{"https://app.example", "http://localhost:3000"};
  return *sites;
}

PageOrigin OriginWith(const std::string& headers, const std::vector<std::string>& listed) {
  HttpRequest request;
  request.head = absl::StrCat("POST / HTTP/1.1\r\nHost: mpsd:8000\r\n", headers, "\r\n");
  HttpFraming framing;
  HttpParser parser;
  EXPECT_EQ(parser.ReadHead(&request, &framing).status, 0);
  return OriginOf(request, listed);
}

TEST(PageOrigin, WhatComesFromNoPageIsNoneOfAPage) {
  EXPECT_EQ(OriginWith("", {}), PageOrigin::kNone);
  EXPECT_EQ(OriginWith("", Sites()), PageOrigin::kNone);
}

TEST(PageOrigin, PagesOfThisServerMayCall) {
  EXPECT_EQ(OriginWith("Origin: http://mpsd:8000\r\n", {}), PageOrigin::kNone);
  EXPECT_EQ(OriginWith("Origin: https://MPSD:8000\r\n", {}), PageOrigin::kNone);
  EXPECT_EQ(OriginWith("Origin: https://front\r\nSec-Fetch-Site: same-origin\r\n", {}),
            PageOrigin::kNone);
}

TEST(PageOrigin, PagesOfOtherSitesMayNot) {
  for (const char* origin : {"https://evil.example", "http://mpsd", "http://mpsd:80001", "null", "",
                             "https://app.example.evil", "http://app.example"}) {
    EXPECT_EQ(OriginWith(absl::StrCat("Origin: ", origin, "\r\n"), Sites()), PageOrigin::kForeign)
        << origin;
  }
  EXPECT_EQ(OriginWith("Origin: https://evil.example\r\nSec-Fetch-Site: same-site\r\n", {}),
            PageOrigin::kForeign);
  EXPECT_EQ(OriginWith("Origin: https://app.example\r\nOrigin: https://evil.example\r\n", Sites()),
            PageOrigin::kForeign);
}

TEST(PageOrigin, ARequestWithoutOriginIsAsForeignAsItsSite) {
  for (const char* site : {"cross-site", "same-site"}) {
    const std::string header = absl::StrCat("Sec-Fetch-Site: ", site, "\r\n");
    EXPECT_EQ(OriginWith(header, Sites()), PageOrigin::kForeign) << site;
    EXPECT_EQ(OriginWith(header, {"*"}), PageOrigin::kNone) << site;
  }
  EXPECT_EQ(OriginWith("Sec-Fetch-Site: none\r\n", {}), PageOrigin::kNone);
  EXPECT_EQ(OriginWith("Sec-Fetch-Site: same-origin\r\n", {}), PageOrigin::kNone);
}

bool HostIsForeign(const std::string& host, const std::string& peer = "ipv4:127.0.0.1:5") {
  HttpRequest request;
  request.head = absl::StrCat("GET / HTTP/1.1\r\nHost: ", host, "\r\n\r\n");
  HttpFraming framing;
  HttpParser parser;
  EXPECT_EQ(parser.ReadHead(&request, &framing).status, 0);
  return HasForeignHost(request, peer, {"proxy.example"});
}

TEST(ForeignHost, OnLoopbackANameMustBeKnown) {
  for (const char* host :
       {"evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example",
        "proxy.example.evil", "evillocalhost", "h", "localhost:80@evil.example",
        "evil.example@localhost", "evil.example:1@a.localhost", "127.0.0.1:80@evil.example",
        "[::1]:80@evil.example", "localhost:80x", "localhost:1:2"}) {
    EXPECT_TRUE(HostIsForeign(host)) << host;
  }
  for (const char* host :
       {"localhost", "localhost:", "LOCALHOST:8000", "a.localhost:1", "127.0.0.1", "[::1]",
        "10.0.0.1:8000", "[::1]:8000", "proxy.example", "Proxy.Example:443"}) {
    EXPECT_FALSE(HostIsForeign(host)) << host;
  }
  EXPECT_TRUE(HostIsForeign("evil.example", "ipv6:[::1]:5"));
}

TEST(ForeignHost, ElsewhereNamesAreOfNoInterest) {
  EXPECT_FALSE(HostIsForeign("any.example", "ipv4:10.0.0.1:5"));
  EXPECT_FALSE(HostIsForeign("any.example", "ipv6:[fe80::1]:5"));
  EXPECT_FALSE(HostIsForeign("any.example", "unix:"));
}

TEST(PageOrigin, SitesOfTheListMay) {
  EXPECT_EQ(OriginWith("Origin: https://app.example\r\n", Sites()), PageOrigin::kListed);
  EXPECT_EQ(OriginWith("Origin: null\r\n", {"*"}), PageOrigin::kListed);
}

}  // namespace
}  // namespace mpsd
