#include "server/telemetry/http/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "proto/base/fd.h"

namespace mpsd {
namespace {

class FakeHealth final : public HealthSource {
 public:
  bool Live() override { return live; }
  Readiness Ready() override {
    if (ready) return {true, "", {}};
    return {false, "models are starting", {"bert", "resnet"}};
  }

  std::atomic<bool> live{true};
  std::atomic<bool> ready{true};
};

class HttpServerTest : public testing::Test {
 protected:
  void SetUp() override {
    auto server = HttpServer::Start("127.0.0.1:0", &page_, &health_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    ASSERT_NE(server_->port(), 0);
  }

  UniqueFd ConnectAndSend(const std::string& request) {
    UniqueFd fd(socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(server_->port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(request.size()));
    return fd;
  }

  // Sends `request` as it is and returns everything up to the end of the connection.
  std::string Exchange(const std::string& request) {
    const UniqueFd fd = ConnectAndSend(request);
    std::string answer;
    char buffer[4096];
    for (ssize_t n = 0; (n = recv(fd.get(), buffer, sizeof(buffer), 0)) > 0;) {
      answer.append(buffer, static_cast<size_t>(n));
    }
    return answer;
  }

  std::string Ask(const std::string& method, const std::string& path) {
    return Exchange(absl::StrCat(method, " ", path, " HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  }

  static std::string Body(const std::string& answer) {
    const size_t end = answer.find("\r\n\r\n");
    return end == std::string::npos ? "" : answer.substr(end + 4);
  }

  ServerMetrics counters_;
  MetricsPage page_{&counters_, {{"version", "0.1.0"}}};
  FakeHealth health_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, ServesTheMetricsPage) {
  const std::string answer = Ask("GET", "/metrics");
  EXPECT_TRUE(absl::StartsWith(answer, "HTTP/1.1 200 OK\r\n")) << answer;
  EXPECT_TRUE(absl::StrContains(answer, "Content-Type: text/plain; version=0.0.4"));
  EXPECT_TRUE(absl::StrContains(answer, "mpsd_build_info{version=\"0.1.0\"} 1\n"));
}

TEST_F(HttpServerTest, AnswersProbesOnBothTheirNames) {
  for (const char* path : {"/livez", "/readyz", "/v2/health/live", "/v2/health/ready"}) {
    const std::string answer = Ask("GET", path);
    EXPECT_TRUE(absl::StartsWith(answer, "HTTP/1.1 200 ")) << path << answer;
    EXPECT_EQ(Body(answer), "ok");
  }
}

TEST_F(HttpServerTest, NotReadyIs503AndNamesTheModels) {
  health_.ready = false;
  for (const char* path : {"/readyz", "/v2/health/ready"}) {
    const std::string answer = Ask("GET", path);
    EXPECT_TRUE(absl::StartsWith(answer, "HTTP/1.1 503 ")) << path << answer;
    const auto json = nlohmann::json::parse(Body(answer), nullptr, false);
    ASSERT_TRUE(json.is_object()) << answer;
    EXPECT_EQ(json["reason"], "models are starting");
    EXPECT_EQ(json["unready_models"], nlohmann::json({"bert", "resnet"}));
  }
  EXPECT_TRUE(absl::StartsWith(Ask("GET", "/livez"), "HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, NotLiveIs503) {
  health_.live = false;
  EXPECT_TRUE(absl::StartsWith(Ask("GET", "/livez"), "HTTP/1.1 503 "));
  EXPECT_TRUE(absl::StartsWith(Ask("GET", "/v2/health/live"), "HTTP/1.1 503 "));
}

TEST_F(HttpServerTest, HeadHasTheHeadersAlone) {
  const std::string answer = Ask("HEAD", "/livez");
  EXPECT_TRUE(absl::StartsWith(answer, "HTTP/1.1 200 "));
  EXPECT_TRUE(absl::StrContains(answer, "Content-Length: 2\r\n"));
  EXPECT_EQ(Body(answer), "");
}

TEST_F(HttpServerTest, OtherPathsAre404) {
  for (const char* path : {"/", "/metrics/", "/metrics2", "/v2", "/../etc/passwd", "/livez/x"}) {
    EXPECT_TRUE(absl::StartsWith(Ask("GET", path), "HTTP/1.1 404 ")) << path;
  }
}

TEST_F(HttpServerTest, OtherMethodsAre405) {
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS"}) {
    const std::string answer = Ask(method, "/metrics");
    EXPECT_TRUE(absl::StartsWith(answer, "HTTP/1.1 405 ")) << method << answer;
    EXPECT_TRUE(absl::StrContains(answer, "Allow: GET, HEAD\r\n"));
  }
}

TEST_F(HttpServerTest, HeadersOverTheBoundAreRefused) {
  const std::string answer =
      Exchange(absl::StrCat("GET /livez HTTP/1.1\r\nX: ", std::string(16 << 10, 'x'), "\r\n\r\n"));
  EXPECT_FALSE(absl::StrContains(answer, "200 OK")) << answer;
  EXPECT_TRUE(absl::StartsWith(Ask("GET", "/livez"), "HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, SlowClientsKeepNoProbeWaiting) {
  std::vector<UniqueFd> slow;
  for (int i = 0; i < 20; ++i) slow.push_back(ConnectAndSend("GET /livez HT"));
  EXPECT_TRUE(absl::StartsWith(Ask("GET", "/livez"), "HTTP/1.1 200 "));
  char byte = 0;
  for (const UniqueFd& client : slow) {
    EXPECT_EQ(recv(client.get(), &byte, 1, MSG_DONTWAIT), -1) << "the probe waited for its end";
    EXPECT_EQ(errno, EAGAIN);
  }
}

TEST_F(HttpServerTest, BusyPortIsAClearError) {
  const std::string address = absl::StrCat("127.0.0.1:", server_->port());
  const auto second = HttpServer::Start(address, &page_, &health_);
  ASSERT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(absl::StrContains(second.status().message(), address)) << second.status();
  EXPECT_TRUE(absl::StrContains(second.status().message(), "in use")) << second.status();
}

TEST_F(HttpServerTest, WhatIsNoAddressIsRefused) {
  for (const char* address : {"", "8002", ":8002", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x",
                              "127.0.0.1:0,127.0.0.1:0", "127.0.0.1:8002s", "127.0.0.1:65536",
                              "127.0.0.1:-1", "127.0.0.1:+80", "127.0.0.1: 80", "127.0.0.1:80\n"}) {
    const auto server = HttpServer::Start(address, &page_, &health_);
    EXPECT_EQ(server.status().code(), absl::StatusCode::kInvalidArgument) << address;
  }
}

TEST_F(HttpServerTest, AnAddressOfAnotherHostIsAnError) {
  const auto server = HttpServer::Start("192.0.2.1:0", &page_, &health_);
  EXPECT_EQ(server.status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(HttpServerTest, APortIsFreeAgainAfterTheServerIsGone) {
  const std::string address = absl::StrCat("127.0.0.1:", server_->port());
  server_.reset();
  const auto again = HttpServer::Start(address, &page_, &health_);
  EXPECT_TRUE(again.ok()) << again.status();
}

}  // namespace
}  // namespace mpsd
