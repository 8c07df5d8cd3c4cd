#include "client/web/http_client.h"

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "client/this_host.h"
#include "client/web/reply_status.h"

namespace mpsd::client {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Error = boost::system::error_code;
using Reader = http::response_parser<http::string_body>;
using Writer = http::request<http::string_body>;

constexpr uint64_t kMaxBodyBytes = 1 << 30;
constexpr int kMaxInterimReplies = 16;

Error SetUpTls(const ConnectOptions& options, asio::ssl::context* context) {
  Error error;
  if (options.tls_ca.empty()) {
    context->set_default_verify_paths(error);
  } else {
    context->add_certificate_authority(asio::buffer(options.tls_ca), error);
  }
  if (!error && !options.tls_certificate.empty()) {
    context->use_certificate_chain(asio::buffer(options.tls_certificate), error);
    if (!error) {
      context->use_private_key(asio::buffer(options.tls_key), asio::ssl::context::pem, error);
    }
  }
  if (!error) context->set_verify_mode(asio::ssl::verify_peer, error);
  return error;
}

absl::Status CheckOptions(const ServerUrl& url, const ConnectOptions& options) {
  if (options.tls && !url.tls) {
    return absl::InvalidArgumentError(
        absl::StrCat("options of TLS are for https://, not for http://", url.Authority()));
  }
  if (!options.token.empty() && !url.tls && !StaysOnThisHost(url.host)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a token is not sent to ", url.Authority(), " without TLS"));
  }
  return absl::OkStatus();
}

Writer MakeMessage(const HttpRequest& request, const ServerUrl& url,
                   const std::string& authorization, absl::Duration time_left) {
  Writer message(http::string_to_verb(request.method), request.target, 11);
  message.set(http::field::host, url.Authority());
  message.set("Request-Timeout", absl::StrFormat("%.3f", absl::ToDoubleSeconds(time_left)));
  if (!authorization.empty()) message.set(http::field::authorization, authorization);
  for (const auto& [name, value] : request.headers) message.set(name, value);
  message.body() = request.body;
  message.prepare_payload();
  return message;
}

HttpReply MakeReply(Reader::value_type&& message) {
  HttpReply reply;
  for (const auto& field : message) {
    const absl::string_view name(field.name_string().data(), field.name_string().size());
    reply.headers[absl::AsciiStrToLower(name)] = std::string(field.value());
  }
  reply.body = std::move(message.body());
  return reply;
}

struct Exchange {
  // The server says that it will answer (100, 103).
  bool IsInterim() const { return !reader.has_value() || reader->get().result_int() < 200; }

  // True if another request may follow.
  bool KeepsConnection() const {
    return !error && is_sent && !IsInterim() && reader->get().keep_alive();
  }

  Error error;                   // none: there is a reply
  bool is_sent = false;          // the whole request
  std::optional<Reader> reader;  // the last reply's
};

absl::Status Expired() { return absl::DeadlineExceededError("Deadline Exceeded"); }

}  // namespace

// A plain connection leaves the layer of TLS unused.
struct HttpClient::Connection {
  using Stream = asio::ssl::stream<beast::tcp_stream>;

  // Runs until the operation's end or `deadline`.
  template <typename Start>
  Error Run(absl::Time deadline, Start start) {
    Error result;
    stream->next_layer().expires_after(absl::ToChronoNanoseconds(deadline - absl::Now()));
    start([&result](const Error& error, const auto&...) { result = error; });
    io.restart();
    io.run();
    return result;
  }

  // `socket` is the stream or the plain one below it. Reads also if the server takes only a part of
  // a body: its reply says why. Earlier replies are dropped.
  template <typename Socket>
  void SendAndRead(Socket& socket, absl::Time deadline, const Writer& message, Exchange* exchange) {
    const Error unsent = Run(
        deadline, [&](auto handler) { http::async_write(socket, message, std::move(handler)); });
    exchange->is_sent = !unsent;
    exchange->error = unsent;
    if (unsent == beast::error::timeout) return;
    for (int i = 0; i <= kMaxInterimReplies && exchange->IsInterim(); ++i) {
      exchange->reader.emplace().body_limit(kMaxBodyBytes);
      const Error unread = Run(deadline, [&](auto handler) {
        http::async_read(socket, buffer, *exchange->reader, std::move(handler));
      });
      exchange->error = unread && unsent ? unsent : unread;
      if (unread) return;
    }
  }

  Error Handshake(const ServerUrl& url, absl::Time deadline) {
    Error not_an_address;
    asio::ip::make_address(url.host, not_an_address);
    if (not_an_address) SSL_set_tlsext_host_name(stream->native_handle(), url.host.c_str());
    Error error;
    stream->set_verify_callback(asio::ssl::host_name_verification(url.host), error);
    if (error) return error;
    return Run(deadline, [this](auto handler) {
      stream->async_handshake(asio::ssl::stream_base::client, std::move(handler));
    });
  }

  // Why a handshake has failed.
  std::string TlsFault(const Error& error) {
    if (error.message() == "wrong version number") return "it speaks no TLS, so say http://";
    const int64_t verified = SSL_get_verify_result(stream->native_handle());
    return verified == X509_V_OK ? error.message() : X509_verify_cert_error_string(verified);
  }

  asio::io_context io{1};
  asio::ssl::context tls{asio::ssl::context::tls_client};
  std::optional<Stream> stream;  // nothing: it must be connected first
  beast::flat_buffer buffer;
};

HttpClient::HttpClient(ServerUrl url, std::string token)
    : url_(std::move(url)),
      authorization_(token.empty() ? "" : absl::StrCat("Bearer ", token)),
      connection_(std::make_unique<Connection>()) {}

HttpClient::~HttpClient() = default;

absl::StatusOr<std::unique_ptr<HttpClient>> HttpClient::Connect(const std::string& url,
                                                                absl::Time deadline,
                                                                const ConnectOptions& options) {
  const absl::StatusOr<ServerUrl> parsed = ParseServerUrl(url);
  if (!parsed.ok()) return parsed.status();
  absl::Status status = CheckOptions(*parsed, options);
  if (!status.ok()) return status;
  std::unique_ptr<HttpClient> client(new HttpClient(*parsed, options.token));
  // Reading the authorities takes some 80 ms.
  const Error error = parsed->tls ? SetUpTls(options, &client->connection_->tls) : Error();
  if (error) return absl::InvalidArgumentError(absl::StrCat("certificates: ", error.message()));
  status = client->Open(deadline);
  if (!status.ok()) return status;
  return client;
}

absl::Status HttpClient::Open(absl::Time deadline) {
  const auto unreachable = [this](const std::string& why) {
    return absl::UnavailableError(
        absl::StrCat("no server is reachable at ", url_.Authority(), ": ", why));
  };
  Connection& connection = *connection_;
  Error error;
  asio::ip::tcp::resolver resolver(connection.io);
  const auto places = resolver.resolve(url_.host, url_.port, error);
  if (error) return unreachable(error.message());
  connection.buffer.clear();
  connection.stream.emplace(connection.io, connection.tls);
  error = connection.Run(deadline, [&](auto handler) {
    connection.stream->next_layer().async_connect(places, std::move(handler));
  });
  if (!error && url_.tls) {
    error = connection.Handshake(url_, deadline);
    if (error && error != beast::error::timeout) return unreachable(connection.TlsFault(error));
  }
  if (error == beast::error::timeout) return unreachable("it did not answer before the deadline");
  return error ? unreachable(error.message()) : absl::OkStatus();
}

absl::StatusOr<HttpReply> HttpClient::Call(const HttpRequest& request, absl::Time deadline) {
  Connection& connection = *connection_;
  if (!connection.stream.has_value()) {
    if (absl::Status status = Open(deadline); !status.ok()) return status;
  }
  const absl::Duration time_left = deadline - absl::Now();
  if (time_left <= absl::ZeroDuration()) return Expired();
  const Writer message = MakeMessage(request, url_, authorization_, time_left);
  Exchange exchange;
  if (url_.tls) {
    connection.SendAndRead(*connection.stream, deadline, message, &exchange);
  } else {
    connection.SendAndRead(connection.stream->next_layer(), deadline, message, &exchange);
  }
  if (!exchange.KeepsConnection()) connection.stream.reset();
  const Error error = exchange.error;
  if (error == beast::error::timeout) return Expired();
  if (error) {
    const bool hangs_up =
        error == http::error::end_of_stream || error == asio::error::connection_reset;
    return absl::UnavailableError(
        absl::StrCat("the connection to ", url_.Authority(), " has failed: ", error.message(),
                     hangs_up && !url_.tls ? "; if it wants TLS, say https://" : ""));
  }
  const unsigned code = exchange.reader->get().result_int();
  HttpReply reply = MakeReply(exchange.reader->release());
  if (absl::Status status = ReplyStatus(code, reply.body); !status.ok()) return status;
  return reply;
}

}  // namespace mpsd::client
