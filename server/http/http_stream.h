// HttpStream: one connection's socket, with or without TLS.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

namespace mpsd {

using HttpSocket = boost::asio::generic::stream_protocol::socket;

// Each direction has at most one operation under way. A handler gets error and bytes on the
// connection's thread, never before the function has returned. Part of a connection, and lives on
// its thread.
class HttpStream {
 public:
  // `tls` is null for plain bytes.
  HttpStream(HttpSocket socket, std::shared_ptr<boost::asio::ssl::context> tls)
      : socket_(std::move(socket)), context_(std::move(tls)) {
    if (context_ != nullptr) tls_.emplace(socket_, *context_);
  }

  bool has_tls() const { return tls_.has_value(); }
  SSL* tls() { return tls_->native_handle(); }

  template <typename Handler>
  void Handshake(Handler handler) {
    tls_->async_handshake(boost::asio::ssl::stream_base::server, std::move(handler));
  }

  template <typename Handler>
  void Read(boost::asio::mutable_buffer target, Handler handler) {
    if (tls_.has_value()) return tls_->async_read_some(target, std::move(handler));
    socket_.async_read_some(target, std::move(handler));
  }

  // Calls the handler once bytes can be read, or the connection has failed. Only for plain bytes.
  template <typename Handler>
  void AwaitBytes(Handler handler) {
    socket_.async_wait(boost::asio::socket_base::wait_read, std::move(handler));
  }

  // Reads without waiting. REQUIRES: plain bytes, and no read is under way.
  template <typename Buffers>
  size_t ReadNow(const Buffers& targets, boost::system::error_code* error) {
    if (!socket_.non_blocking()) socket_.non_blocking(true, *error);
    return *error ? 0 : socket_.read_some(targets, *error);
  }

  // Writes without waiting. REQUIRES: plain bytes, and no write is under way.
  template <typename Buffers>
  size_t WriteNow(const Buffers& buffers, boost::system::error_code* error) {
    if (!socket_.non_blocking()) socket_.non_blocking(true, *error);
    return *error ? 0 : socket_.write_some(buffers, *error);
  }

  // Calls the handler once the socket takes bytes again, or the connection has failed. Only for
  // plain bytes.
  template <typename Handler>
  void AwaitRoom(Handler handler) {
    socket_.async_wait(boost::asio::socket_base::wait_write, std::move(handler));
  }

  template <typename Buffers, typename Handler>
  void Write(const Buffers& buffers, Handler handler) {
    if (tls_.has_value()) return tls_->async_write_some(buffers, std::move(handler));
    socket_.async_write_some(buffers, std::move(handler));
  }

  // The client may still send. With TLS the handler waits for the client's answer, or Close().
  template <typename Handler>
  void EndWriting(Handler handler) {
    auto told = [this, handler = std::move(handler)](const boost::system::error_code&) mutable {
      boost::system::error_code ignored;
      socket_.shutdown(boost::asio::socket_base::shutdown_send, ignored);
      handler();
    };
    if (tls_.has_value()) return tls_->async_shutdown(std::move(told));
    boost::asio::post(socket_.get_executor(),
                      [told = std::move(told)]() mutable { told(boost::system::error_code()); });
  }

  // Pending operations' handlers get an error.
  void Close() {
    boost::system::error_code ignored;
    socket_.close(ignored);
  }

 private:
  HttpSocket socket_;
  const std::shared_ptr<boost::asio::ssl::context> context_;
  std::optional<boost::asio::ssl::stream<HttpSocket&>> tls_;
};

}  // namespace mpsd
