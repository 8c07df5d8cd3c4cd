#include "tests/fakes/fake_web_server.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace mpsd {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using Tcp = asio::ip::tcp;
using Error = boost::system::error_code;

FakeWebServer::Request RequestOf(const http::request<http::string_body>& message) {
  FakeWebServer::Request request;
  request.line =
      absl::StrCat(std::string(message.method_string()), " ", std::string(message.target()));
  for (const auto& field : message) {
    request.headers[std::string(field.name_string())] = std::string(field.value());
  }
  request.body = message.body();
  return request;
}

}  // namespace

struct FakeWebServer::Listener {
  asio::io_context io;
  Tcp::acceptor acceptor{io, Tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
};

// One connection. Owns itself by the handlers that are out.
class FakeWebServer::Session : public std::enable_shared_from_this<FakeWebServer::Session> {
 public:
  Session(FakeWebServer* server, Tcp::socket socket)
      : server_(server), socket_(std::move(socket)) {}

  void Read() {
    parser_.emplace().body_limit(server_->most_body_bytes);
    http::async_read(socket_, buffer_, *parser_,
                     [self = shared_from_this()](const Error& error, size_t) {
                       if (error == http::error::body_limit) self->Refuse();
                       if (!error) self->Answer();
                     });
  }

 private:
  void Refuse() {
    reply_ = http::response<http::string_body>(http::status::payload_too_large, 11);
    reply_.prepare_payload();
    http::async_write(socket_, reply_, [self = shared_from_this()](const Error&, size_t) {});
  }

  void Answer() {
    const Request request = RequestOf(parser_->get());
    {
      absl::MutexLock lock(&server_->mu_);
      server_->requests_.push_back(request);
    }
    const Reply reply = server_->handler(request);
    if (reply.hangs) {  // until the client leaves
      return socket_.async_wait(Tcp::socket::wait_error, [self = shared_from_this()](Error) {});
    }
    if (reply.hangs_up) return;
    std::string interim;
    for (int i = 0; i < reply.interim_count; ++i) interim += "HTTP/1.1 103 Early Hints\r\n\r\n";
    Error ignored;
    asio::write(socket_, asio::buffer(interim), ignored);
    reply_ = http::response<http::string_body>(static_cast<http::status>(reply.code), 11);
    for (const auto& [name, value] : reply.headers) reply_.set(name, value);
    reply_.keep_alive(reply.keeps_connection);
    reply_.body() = reply.body;
    reply_.prepare_payload();
    http::async_write(socket_, reply_, [self = shared_from_this()](const Error& error, size_t) {
      if (!error && self->reply_.keep_alive()) self->Read();
    });
  }

  FakeWebServer* const server_;
  Tcp::socket socket_;
  boost::beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> reply_;
};

FakeWebServer::FakeWebServer() : listener_(std::make_unique<Listener>()) {}

FakeWebServer::~FakeWebServer() {
  listener_->io.stop();
  if (thread_.joinable()) thread_.join();
}

void FakeWebServer::Start() {
  Accept();
  thread_ = std::thread([this] { listener_->io.run(); });
}

void FakeWebServer::Accept() {
  listener_->acceptor.async_accept([this](const Error& error, Tcp::socket socket) {
    if (error) return;
    {
      absl::MutexLock lock(&mu_);
      ++connection_count_;
    }
    std::make_shared<Session>(this, std::move(socket))->Read();
    Accept();
  });
}

std::string FakeWebServer::url() const {
  return absl::StrCat("http://127.0.0.1:", listener_->acceptor.local_endpoint().port());
}

std::vector<FakeWebServer::Request> FakeWebServer::Requests() const {
  absl::MutexLock lock(&mu_);
  return requests_;
}

int FakeWebServer::ConnectionCount() const {
  absl::MutexLock lock(&mu_);
  return connection_count_;
}

}  // namespace mpsd
