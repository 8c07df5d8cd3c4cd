#include "client/web/http_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "tests/client/soon.h"
#include "tests/fakes/fake_web_server.h"

namespace mpsd::client {
namespace {

using testing::HasSubstr;
using testing::Pair;

class HttpClientTest : public testing::Test {
 protected:
  std::unique_ptr<HttpClient> Start(const ConnectOptions& options = {}) {
    server_.Start();
    auto client = HttpClient::Connect(server_.url(), Soon(), options);
    EXPECT_TRUE(client.ok()) << client.status();
    return *std::move(client);
  }

  FakeWebServer server_;
};

TEST_F(HttpClientTest, SendsARequestAndReadsTheAnswer) {
  server_.handler = [](const FakeWebServer::Request& request) {
    return FakeWebServer::Reply{200, "<" + request.body + ">", {{"X-Count", "3"}}};
  };
  ConnectOptions options;
  options.token = "secret";
  const auto client = Start(options);
  const auto reply = client->Call({"POST", "/a", "body", {{"Content-Type", "text/plain"}}}, Soon());
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->body, "<body>");
  EXPECT_THAT(reply->headers, testing::Contains(Pair("x-count", "3")));
  const FakeWebServer::Request request = server_.Requests()[0];
  EXPECT_EQ(request.line, "POST /a");
  EXPECT_EQ("http://" + request.headers.at("Host"), server_.url());
  EXPECT_EQ(request.headers.at("Authorization"), "Bearer secret");
  EXPECT_EQ(request.headers.at("Content-Type"), "text/plain");
  EXPECT_EQ(request.headers.count("Request-Timeout"), 1U);
}

TEST_F(HttpClientTest, CallsShareAConnectionUntilTheServerEndsIt) {
  server_.handler = [](const FakeWebServer::Request& request) {
    return FakeWebServer::Reply{200, "", {}, request.line != "GET /last"};
  };
  const auto client = Start();
  for (const char* target : {"/a", "/b", "/last", "/c"}) {
    EXPECT_TRUE(client->Call({"GET", target}, Soon()).ok()) << target;
  }
  EXPECT_EQ(server_.ConnectionCount(), 2);
}

TEST_F(HttpClientTest, ARefusalIsAStatusWithTheServersText) {
  server_.handler = [](const FakeWebServer::Request&) {
    return FakeWebServer::Reply{404, R"({"error":"there is none"})"};
  };
  const auto reply = Start()->Call({"GET", "/"}, Soon());
  EXPECT_EQ(reply.status(), absl::NotFoundError("there is none"));
}

TEST_F(HttpClientTest, AConnectionThatEndsWithoutAnAnswerIsAnError) {
  server_.handler = [](const FakeWebServer::Request& request) {
    FakeWebServer::Reply reply;
    reply.hangs_up = request.line == "GET /bad";
    return reply;
  };
  const auto client = Start();
  const auto reply = client->Call({"GET", "/bad"}, Soon());
  EXPECT_EQ(reply.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(reply.status().message(), HasSubstr("has failed"));
  EXPECT_THAT(reply.status().message(), HasSubstr("; if it wants TLS, say https://"));
  EXPECT_TRUE(client->Call({"GET", "/good"}, Soon()).ok());
}

TEST_F(HttpClientTest, AnEarlyRefusalEndsAConnectionThatHasHalfARequest) {
  server_.handler = [](const FakeWebServer::Request&) { return FakeWebServer::Reply{}; };
  const auto client = Start();
  const auto reply = client->Call({"POST", "/", std::string(64 << 20, 'x')}, Soon());
  EXPECT_EQ(reply.status(), absl::InvalidArgumentError("the server answered HTTP 413"));
  EXPECT_TRUE(client->Call({"GET", "/"}, Soon()).ok());
  EXPECT_EQ(server_.ConnectionCount(), 2);
}

TEST_F(HttpClientTest, RepliesBeforeTheAnswerAreDropped) {
  server_.handler = [](const FakeWebServer::Request&) {
    FakeWebServer::Reply reply{200, "last"};
    reply.interim_count = 3;
    return reply;
  };
  const auto client = Start();
  for (int i = 0; i < 2; ++i) {
    const auto reply = client->Call({"GET", "/"}, Soon());
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_EQ(reply->body, "last");
  }
  EXPECT_EQ(server_.ConnectionCount(), 1);
}

TEST_F(HttpClientTest, AServerThatNeverComesToItsAnswerIsLeft) {
  server_.handler = [](const FakeWebServer::Request& request) {
    FakeWebServer::Reply reply{200, "last"};
    reply.interim_count = request.line == "GET /talk" ? 100 : 0;
    return reply;
  };
  const auto client = Start();
  EXPECT_EQ(client->Call({"GET", "/talk"}, Soon()).status(),
            absl::UnknownError("the server answered HTTP 103"));
  const auto reply = client->Call({"GET", "/"}, Soon());
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->body, "last");
  EXPECT_EQ(server_.ConnectionCount(), 2);
}

TEST_F(HttpClientTest, WaitsUntilTheDeadlineAndNoLonger) {
  server_.handler = [](const FakeWebServer::Request&) {
    FakeWebServer::Reply reply;
    reply.hangs = true;
    return reply;
  };
  const auto client = Start();
  const absl::Time soon = absl::Now() + absl::Milliseconds(50);
  EXPECT_EQ(client->Call({"GET", "/"}, soon).status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(client->Call({"GET", "/"}, soon).status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST(HttpClient, SaysWhyNobodyIsReached) {
  std::string url;
  {
    FakeWebServer gone;
    url = gone.url();
  }
  const auto client = HttpClient::Connect(url, Soon());
  EXPECT_EQ(client.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(client.status().message(), HasSubstr("no server is reachable at 127.0.0.1:"));
}

TEST(HttpClient, RefusesWhatWouldGiveATokenAway) {
  ConnectOptions options;
  options.token = "secret";
  const auto client = HttpClient::Connect("http://192.0.2.1:1", Soon(), options);
  EXPECT_EQ(client.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(client.status().message(), HasSubstr("without TLS"));
}

TEST(HttpClient, RefusesOptionsOfTlsForPlainHttp) {
  ConnectOptions options;
  options.tls = true;
  EXPECT_EQ(HttpClient::Connect("http://127.0.0.1:1", Soon(), options).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(HttpClient, RefusesAnAuthorityThatIsNone) {
  ConnectOptions options;
  options.tls = true;
  options.tls_ca = "no certificate";
  EXPECT_EQ(HttpClient::Connect("https://127.0.0.1:1", Soon(), options).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace mpsd::client
