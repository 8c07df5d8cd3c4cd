#include "load_tests/ceilings/http_echo_server.h"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/system/error_code.hpp>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace mpsd::load {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;

constexpr unsigned kHttp11 = 11;

absl::StatusOr<tcp::endpoint> EndpointOf(absl::string_view address) {
  const size_t colon = address.rfind(':');
  boost::system::error_code error;
  uint32_t port = 0;
  if (colon != absl::string_view::npos && absl::SimpleAtoi(address.substr(colon + 1), &port) &&
      port <= std::numeric_limits<uint16_t>::max()) {
    const auto host = asio::ip::make_address(std::string(address.substr(0, colon)), error);
    if (!error) return tcp::endpoint(host, static_cast<uint16_t>(port));
  }
  return absl::InvalidArgumentError(absl::StrCat("not an address and a port: ", address));
}

std::vector<std::unique_ptr<asio::io_context>> MakeContexts(uint32_t count) {
  std::vector<std::unique_ptr<asio::io_context>> contexts(count);
  for (auto& context : contexts) context = std::make_unique<asio::io_context>(1);
  return contexts;
}

// Serves one client. Lives on its context's thread; its open operations keep it alive.
class EchoConnection final : public std::enable_shared_from_this<EchoConnection> {
 public:
  EchoConnection(tcp::socket socket, const std::string* answer)
      : socket_(std::move(socket)), answer_(answer) {
    boost::system::error_code ignored;
    socket_.set_option(tcp::no_delay(true), ignored);
  }

  void Read() {
    request_ = {};
    http::async_read(socket_, buffer_, request_,
                     [self = shared_from_this()](const beast::error_code& error, size_t) {
                       if (!error) self->Answer();
                     });
  }

 private:
  void Answer() {
    reply_ = {http::status::ok, kHttp11};
    reply_.set(http::field::content_type, "application/octet-stream");
    reply_.body() = answer_->empty() ? std::move(request_.body()) : *answer_;
    reply_.keep_alive(request_.keep_alive());
    reply_.prepare_payload();
    http::async_write(socket_, reply_,
                      [self = shared_from_this()](const beast::error_code& error, size_t) {
                        if (!error && self->reply_.keep_alive()) self->Read();
                      });
  }

  tcp::socket socket_;
  const std::string* const answer_;
  beast::flat_buffer buffer_;
  http::request<http::string_body> request_;
  http::response<http::string_body> reply_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<HttpEchoServer>> HttpEchoServer::Start(Options options) {
  const absl::StatusOr<tcp::endpoint> endpoint = EndpointOf(options.address);
  if (!endpoint.ok()) return endpoint.status();
  std::unique_ptr<HttpEchoServer> echo(new HttpEchoServer(std::move(options)));
  if (const boost::system::error_code error = echo->Listen(*endpoint)) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", echo->options_.address, ": ", error.message()));
  }
  echo->Accept();
  for (const auto& context : echo->contexts_) {
    echo->work_.emplace_back(context->get_executor());
    echo->threads_.emplace_back([&context] { context->run(); });
  }
  return echo;
}

HttpEchoServer::HttpEchoServer(Options options)
    : options_(std::move(options)),
      contexts_(MakeContexts(options_.threads)),
      acceptor_(*contexts_.front()) {}

HttpEchoServer::~HttpEchoServer() {
  for (const auto& context : contexts_) context->stop();
  for (std::thread& thread : threads_) thread.join();
}

boost::system::error_code HttpEchoServer::Listen(const tcp::endpoint& endpoint) {
  boost::system::error_code error;
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  return error;
}

std::string HttpEchoServer::address() const {
  const tcp::endpoint endpoint = acceptor_.local_endpoint();
  return absl::StrCat(endpoint.address().to_string(), ":", endpoint.port());
}

void HttpEchoServer::Accept() {
  asio::io_context& context = *contexts_[next_++ % contexts_.size()];
  acceptor_.async_accept(
      context, [this, &context](const boost::system::error_code& error, tcp::socket socket) {
        if (!error) {
          auto connection = std::make_shared<EchoConnection>(std::move(socket), &options_.answer);
          asio::post(context, [connection = std::move(connection)] { connection->Read(); });
        }
        if (acceptor_.is_open()) Accept();
      });
}

}  // namespace mpsd::load
