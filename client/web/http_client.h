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
  std::map<std::string, std::string> headers{};  // further ones, by name
};

struct HttpReply {
  std::string body;
  std::map<std::string, std::string> headers;  // by name, in lower case
};

// One connection, which is made again where the server has ended it with a reply. Owned by the
// program. Thread-compatible.
class HttpClient {
 public:
  // Connects to `url` (server_url.h), and shakes hands where it is https. Blocks until that
  // succeeds, fails or `deadline` has passed; a host's name is resolved without regard to it.
  // UNAVAILABLE when no server answers there, or it is not trusted, and says why. INVALID_ARGUMENT,
  // with nothing sent: the url; options of TLS for plain http; a token for another host without
  // TLS; a certificate that cannot be used.
  static absl::StatusOr<std::unique_ptr<HttpClient>> Connect(const std::string& url,
                                                             absl::Time deadline,
                                                             const ConnectOptions& options = {});
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Sends the request, with the token and the time that is left, and blocks for the answer, of up
  // to 1 GiB. Never repeats a request. Replies of 1xx that come before the answer, up to 16, are
  // dropped. An answer of another code than 2xx is its ReplyStatus().
  // DEADLINE_EXCEEDED once `deadline` has passed; UNAVAILABLE where the connection ends without an
  // answer or cannot be made again.
  absl::StatusOr<HttpReply> Call(const HttpRequest& request, absl::Time deadline);

 private:
  struct Connection;  // keeps Boost out of this header

  HttpClient(ServerUrl url, std::string token);

  // Makes the connection; errors as Connect().
  absl::Status Open(absl::Time deadline);

  const ServerUrl url_;
  const std::string authorization_;  // empty: there is no token
  const std::unique_ptr<Connection> connection_;
};

}  // namespace mpsd::client
