#include "tests/crash/http_wire.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <utility>

#include "absl/strings/numbers.h"
#include "proto/base/check.h"
#include "proto/base/clock.h"

namespace mpsd::crash {
namespace {

namespace http = boost::beast::http;
using Parser = http::response_parser<http::string_body>;

constexpr uint64_t kMaxBodyBytes = 1 << 24;
constexpr size_t kPieceBytes = 1 << 16;

sockaddr_in PlaceOf(const std::string& address) {
  const size_t colon = address.rfind(':');
  MPSD_CHECK(colon != std::string::npos);
  uint32_t port = 0;
  sockaddr_in place{};
  place.sin_family = AF_INET;
  MPSD_CHECK(absl::SimpleAtoi(address.substr(colon + 1), &port));
  MPSD_CHECK(inet_pton(AF_INET, address.substr(0, colon).c_str(), &place.sin_addr) == 1);
  place.sin_port = htons(static_cast<uint16_t>(port));
  return place;
}

HttpReply ReplyOf(Parser::value_type message) {
  HttpReply reply;
  reply.code = message.result_int();
  reply.body = std::move(message.body());
  reply.json_bytes = reply.body.size();
  const auto length = message.find("Inference-Header-Content-Length");
  if (length != message.end()) {
    const std::string text(length->value());
    if (!absl::SimpleAtoi(text, &reply.json_bytes)) reply.json_bytes = SIZE_MAX;
  }
  return reply;
}

}  // namespace

bool HttpWire::Connect() {
  if (socket_.valid()) return true;
  const sockaddr_in place = PlaceOf(address_);
  socket_.Reset(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  MPSD_CHECK(socket_.valid());
  const int on = 1;
  setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (connect(socket_.get(), reinterpret_cast<const sockaddr*>(&place), sizeof(place)) == 0) {
    return true;
  }
  Close();
  return false;
}

void HttpWire::Close() {
  socket_.Reset();
  input_.clear();
}

bool HttpWire::HasUnasked() {
  if (socket_.valid() && Receive(Clock::Real()->NowNs()) == Outcome::kBroken) Close();
  return !input_.empty();
}

bool HttpWire::Send(absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

HttpWire::Outcome HttpWire::Receive(int64_t until_ns) {
  const int64_t left_ns = std::max<int64_t>(until_ns - Clock::Real()->NowNs(), 0);
  pollfd readable{socket_.get(), POLLIN, 0};
  if (poll(&readable, 1, static_cast<int>((left_ns + kNsPerMs - 1) / kNsPerMs)) == 0) {
    return Outcome::kLate;
  }
  std::array<char, kPieceBytes> piece;
  const ssize_t received = recv(socket_.get(), piece.data(), piece.size(), 0);
  if (received <= 0) return Outcome::kBroken;
  input_.append(piece.data(), static_cast<size_t>(received));
  return Outcome::kReply;
}

HttpWire::Outcome HttpWire::Read(int64_t until_ns, HttpReply* reply) {
  Parser parser;
  parser.eager(true);
  parser.body_limit(kMaxBodyBytes);
  while (!parser.is_done()) {
    if (const Outcome outcome = Receive(until_ns); outcome != Outcome::kReply) return outcome;
    boost::system::error_code error;
    input_.erase(0, parser.put(boost::asio::buffer(input_), error));
    if (error && error != http::error::need_more) return Outcome::kBroken;
  }
  const bool is_kept = parser.keep_alive();
  *reply = ReplyOf(parser.release());
  if (!is_kept) Close();
  return Outcome::kReply;
}

}  // namespace mpsd::crash
