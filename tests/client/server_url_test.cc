#include "client/web/server_url.h"

#include <gtest/gtest.h>

namespace mpsd::client {
namespace {

TEST(ServerUrl, HasSchemeHostAndPort) {
  const auto url = ParseServerUrl("https://gpu.example:8443/");
  ASSERT_TRUE(url.ok()) << url.status();
  EXPECT_TRUE(url->tls);
  EXPECT_EQ(url->host, "gpu.example");
  EXPECT_EQ(url->port, "8443");
  EXPECT_EQ(url->Authority(), "gpu.example:8443");
}

TEST(ServerUrl, TakesThePortOfTheScheme) {
  EXPECT_EQ(ParseServerUrl("http://localhost")->port, "80");
  EXPECT_EQ(ParseServerUrl("https://localhost")->port, "443");
}

TEST(ServerUrl, AnAddressOfIpv6StandsInBrackets) {
  const auto url = ParseServerUrl("http://[::1]:8000");
  ASSERT_TRUE(url.ok()) << url.status();
  EXPECT_EQ(url->host, "::1");
  EXPECT_EQ(url->Authority(), "[::1]:8000");
}

TEST(ServerUrl, AnAddressOfHttpIsToldByItsScheme) {
  EXPECT_TRUE(IsServerUrl("http://127.0.0.1:8000"));
  EXPECT_TRUE(IsServerUrl("https://"));
  for (const char* text : {"127.0.0.1:8000", "unix:/http://", "http:8000", "https", ""}) {
    EXPECT_FALSE(IsServerUrl(text)) << text;
  }
}

TEST(ServerUrl, RefusesEverythingElse) {
  for (const char* text :
       {"", "127.0.0.1:8000", "grpc://a:1", "http://", "http://:80", "http://a:", "http://a:0",
        "http://a:65536", "http://a:b", "http://a/v1", "http://a:1/v1", "http://me@a:1",
        "http://[::1", "http://[::1]8000", "http://a:1:2", "http://a b:1"}) {
    EXPECT_EQ(ParseServerUrl(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace mpsd::client
