// HttpClient: calls of a server over HTTP/1.1, one at a time.
//
//   auto client = HttpClient::Connect("http://127.0.0.1:8000", absl::Now() + absl::Seconds(5));
//   if (!client.ok()) return client.status();
//   auto reply = (*client)->Call({"GET", "/v1/models"}, absl::Now() + absl::Seconds(1));
//   if (reply.ok()) Use(reply->body);
#pragma once

#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/client.h"
#include "client/web/server_url.h"

namespace mpsd::client {

struct HttpRequest {
  std::string method;
  std::string target;  // the path, encoded
  std::string body{};
  std::map<std::string, std::string> headers{};  // by name
};

struct HttpReply {
  std::string body;
  std::map<std::string, std::string> headers;  // by name, in lower case
};

// One connection, made again where a reply has ended it. Thread-compatible.
class HttpClient {
 public:
  // Connects and shakes hands. Blocks until `deadline` at most, except for resolving a host's name.
  // UNAVAILABLE says why no server answers there, or is not trusted. INVALID_ARGUMENT, with nothing
  // sent: the url; options of TLS for plain http; a token for another host without TLS; a
  // certificate that cannot be used.
  static absl::StatusOr<std::unique_ptr<HttpClient>> Connect(const std::string& url,
                                                             absl::Time deadline,
                                                             const ConnectOptions& options = {});
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Sends the token and the time that is left, and blocks for the answer, of up to 1 GiB. Never
  // repeats a request. Drops up to 16 replies of 1xx. Another code than 2xx is its ReplyStatus().
  // DEADLINE_EXCEEDED: `deadline` has passed. UNAVAILABLE: the connection ends without an answer,
  // or cannot be made again.
  absl::StatusOr<HttpReply> Call(const HttpRequest& request, absl::Time deadline);

 private:
  struct Connection;  // keeps Boost out of this header

  HttpClient(ServerUrl url, std::string token);

  // Errors as Connect()'s.
  absl::Status Open(absl::Time deadline);

  const ServerUrl url_;
  const std::string authorization_;  // empty: no token
  const std::unique_ptr<Connection> connection_;
};

}  // namespace mpsd::client
