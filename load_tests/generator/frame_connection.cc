#include "load_tests/generator/frame_connection.h"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "client/web/server_url.h"
#include "proto/base/check.h"
#include "proto/base/clock.h"

namespace mpsd::load {
namespace {

namespace asio = boost::asio;
using Error = boost::system::error_code;
using Endpoint = asio::generic::stream_protocol::endpoint;

constexpr absl::string_view kUnix = "unix:";
constexpr size_t kInputBytes = 256 << 10;
constexpr size_t kOutputBytes = 1 << 20;         // most bytes that wait for the socket
constexpr uint32_t kStreamWindow = 16 << 20;     // most bytes of one answer on their way
constexpr uint32_t kConnectionWindow = 1 << 30;  // the same for all answers

absl::StatusOr<std::vector<Endpoint>> Resolve(asio::io_context* io, absl::string_view target) {
  std::vector<Endpoint> places;
  if (absl::ConsumePrefix(&target, kUnix)) {
    places.emplace_back(asio::local::stream_protocol::endpoint(std::string(target)));
    return places;
  }
  const auto url = client::ParseServerUrl(absl::StrCat("http://", target));
  if (!url.ok()) return url.status();
  Error error;
  asio::ip::tcp::resolver resolver(*io);
  for (const auto& found : resolver.resolve(url->host, url->port, error)) {
    places.emplace_back(found.endpoint());
  }
  return places;
}

// False if the socket is not connected in time.
bool ConnectSocket(asio::io_context* io, const Endpoint& place, int64_t patience_ns,
                   asio::generic::stream_protocol::socket* socket) {
  Error ignored;
  std::optional<Error> outcome;
  socket->close(ignored);
  socket->async_connect(place, [&](const Error& error) { outcome = error; });
  io->restart();
  io->run_for(std::chrono::nanoseconds(patience_ns));
  if (!outcome.has_value()) {
    socket->close(ignored);
    io->restart();
    io->run();
  }
  io->restart();
  return outcome == Error();
}

nghttp2_nv Field(absl::string_view name, absl::string_view value, uint8_t flags) {
  return {reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
          reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
          flags};
}

// For the header grpc-timeout: at most eight digits.
std::string TimeoutText(int64_t ns) {
  constexpr int64_t kTooMany = 100'000'000;
  const int64_t us = std::max<int64_t>(1, ns / kNsPerUs);
  if (us < kTooMany) return absl::StrCat(us, "u");
  return absl::StrCat(std::min(us / 1000, kTooMany - 1), "m");
}

absl::string_view Text(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace

absl::StatusOr<std::unique_ptr<FrameConnection>> FrameConnection::Connect(asio::io_context* io,
                                                                          const std::string& target,
                                                                          const std::string& method,
                                                                          int64_t patience_ns,
                                                                          Ended ended) {
  const absl::StatusOr<std::vector<Endpoint>> places = Resolve(io, target);
  if (!places.ok()) return places.status();
  for (const Endpoint& place : *places) {
    Socket socket(*io);
    if (!ConnectSocket(io, place, patience_ns, &socket)) continue;
    Error ignored;
    socket.set_option(asio::ip::tcp::no_delay(true), ignored);
    socket.non_blocking(true);
    const std::string authority = absl::StartsWith(target, kUnix) ? "localhost" : target;
    return std::unique_ptr<FrameConnection>(
        new FrameConnection(std::move(socket), authority, method, std::move(ended)));
  }
  return absl::UnavailableError(absl::StrCat("cannot connect to ", target));
}

FrameConnection::FrameConnection(Socket socket, std::string authority, std::string method,
                                 Ended ended)
    : socket_(std::move(socket)),
      authority_(std::move(authority)),
      method_(std::move(method)),
      ended_(std::move(ended)),
      input_(kInputBytes) {
  nghttp2_session_callbacks* const callbacks = MakeCallbacks();
  MPSD_CHECK(nghttp2_session_client_new(&session_, callbacks, this) == 0);
  nghttp2_session_callbacks_del(callbacks);
  const std::array<nghttp2_settings_entry, 2> settings = {
      {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0}, {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow}}};
  MPSD_CHECK(
      nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size()) == 0);
  MPSD_CHECK(nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0,
                                                   kConnectionWindow) == 0);
}

FrameConnection::~FrameConnection() { nghttp2_session_del(session_); }

void FrameConnection::Start(FrameCall* call) {
  call->code = grpc::StatusCode::UNKNOWN;
  call->answer.clear();
  call->stream = 0;
  call->sent = 0;
  if (is_lost_) {
    call->code = grpc::StatusCode::UNAVAILABLE;
    return ended_(call);
  }
  waiting_.push_back(call);
}

void FrameConnection::Cancel(FrameCall* call) {
  if (call->stream == 0) {
    waiting_.erase(std::find(waiting_.begin(), waiting_.end(), call));
    return;
  }
  nghttp2_session_set_stream_user_data(session_, call->stream, nullptr);
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, call->stream, NGHTTP2_CANCEL);
  Forget(call);
}

void FrameConnection::Forget(FrameCall* call) {
  open_[call->place] = open_.back();
  open_[call->place]->place = call->place;
  open_.pop_back();
}

void FrameConnection::OpenStreams() {
  if (!is_told_) return;
  const uint32_t most =
      nghttp2_session_get_remote_settings(session_, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
  while (!waiting_.empty() && streams_ < most && output_.size() < kOutputBytes) {
    FrameCall* call = waiting_.front();
    if (!OpenStream(call)) return;
    waiting_.pop_front();
  }
}

bool FrameConnection::OpenStream(FrameCall* call) {
  constexpr uint8_t kKept = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE;
  const std::string timeout =
      call->deadline_ns == 0 ? "" : TimeoutText(call->deadline_ns - Clock::Real()->NowNs());
  const std::array<nghttp2_nv, 7> fields = {
      Field(":method", "POST", kKept),
      Field(":scheme", "http", kKept),
      Field(":path", method_, kKept),
      Field(":authority", authority_, kKept),
      Field("te", "trailers", kKept),
      Field("content-type", "application/grpc", kKept),
      Field("grpc-timeout", timeout, NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_INDEX)};
  const nghttp2_data_provider message = {
      .source = {},
      .read_callback = [](nghttp2_session*, int32_t stream, uint8_t* buffer, size_t most,
                          uint32_t* flags, nghttp2_data_source*, void* self) -> ssize_t {
        return static_cast<FrameConnection*>(self)->CopyMessage(stream, buffer, most, flags);
      }};
  const int32_t stream =
      nghttp2_submit_request(session_, nullptr, fields.data(),
                             timeout.empty() ? fields.size() - 1 : fields.size(), &message, call);
  if (stream < 0) return false;
  call->stream = stream;
  call->place = open_.size();
  open_.push_back(call);
  ++streams_;
  return true;
}

ssize_t FrameConnection::CopyMessage(int32_t stream, uint8_t* buffer, size_t most,
                                     uint32_t* flags) {
  FrameCall* call = CallOf(stream);
  if (call == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  const size_t size = std::min(most, call->message.size() - call->sent);
  std::memcpy(buffer, call->message.data() + call->sent, size);
  call->sent += size;
  if (call->sent == call->message.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(size);
}

void FrameConnection::Write() {
  if (is_lost_) return;
  OpenStreams();
  while (output_.size() < kOutputBytes) {
    const uint8_t* frame = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_, &frame);
    if (size < 0) return Lose();
    if (size == 0) break;
    output_.append(reinterpret_cast<const char*>(frame), static_cast<size_t>(size));
  }
  Send();
}

void FrameConnection::Send() {
  Error error;
  while (!error && written_ < output_.size()) {
    written_ += socket_.write_some(asio::buffer(output_) + written_, error);
  }
  if (error == asio::error::would_block) return;
  if (error) return Lose();
  output_.clear();
  written_ = 0;
}

void FrameConnection::Read() {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(input_.data());
  size_t size = input_.size();
  while (!is_lost_ && size == input_.size()) {
    Error error;
    size = socket_.read_some(asio::buffer(input_), error);
    if (error == asio::error::would_block) return;
    if (error || nghttp2_session_mem_recv(session_, bytes, size) < 0) return Lose();
  }
}

void FrameConnection::TakeHeader(FrameCall* call, absl::string_view name, absl::string_view value) {
  int code = 0;
  if (name == "grpc-status" && absl::SimpleAtoi(value, &code)) {
    call->code = static_cast<grpc::StatusCode>(code);
  }
}

void FrameConnection::EndStream(FrameCall* call, uint32_t error) {
  --streams_;
  if (call == nullptr) return;
  grpc::StatusCode code = call->code;
  if (error == NGHTTP2_REFUSED_STREAM) code = grpc::StatusCode::UNAVAILABLE;
  End(call, code);
}

void FrameConnection::End(FrameCall* call, grpc::StatusCode code) {
  Forget(call);
  call->code = code;
  ended_(call);
}

void FrameConnection::Lose() {
  if (is_lost_) return;
  is_lost_ = true;
  Error ignored;
  socket_.close(ignored);
  while (!open_.empty()) End(open_.back(), grpc::StatusCode::UNAVAILABLE);
  while (!waiting_.empty()) {
    FrameCall* call = waiting_.front();
    waiting_.pop_front();
    call->code = grpc::StatusCode::UNAVAILABLE;
    ended_(call);
  }
}

FrameCall* FrameConnection::CallOf(int32_t stream) const {
  return static_cast<FrameCall*>(nghttp2_session_get_stream_user_data(session_, stream));
}

nghttp2_session_callbacks* FrameConnection::MakeCallbacks() {
  nghttp2_session_callbacks* made = nullptr;
  MPSD_CHECK(nghttp2_session_callbacks_new(&made) == 0);
  nghttp2_session_callbacks_set_on_header_callback(
      made, [](nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
               const uint8_t* value, size_t value_size, uint8_t, void* user) {
        auto* const self = static_cast<FrameConnection*>(user);
        if (FrameCall* call = self->CallOf(frame->hd.stream_id)) {
          self->TakeHeader(call, Text(name, name_size), Text(value, value_size));
        }
        return 0;
      });
  nghttp2_session_callbacks_set_on_frame_recv_callback(
      made, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        auto* const self = static_cast<FrameConnection*>(user);
        self->is_told_ = self->is_told_ || frame->hd.type == NGHTTP2_SETTINGS;
        return 0;
      });
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
      made,
      [](nghttp2_session*, uint8_t, int32_t stream, const uint8_t* data, size_t size, void* user) {
        if (FrameCall* call = static_cast<FrameConnection*>(user)->CallOf(stream)) {
          call->answer.append(reinterpret_cast<const char*>(data), size);
        }
        return 0;
      });
  nghttp2_session_callbacks_set_on_stream_close_callback(
      made, [](nghttp2_session*, int32_t stream, uint32_t error, void* user) {
        auto* const self = static_cast<FrameConnection*>(user);
        self->EndStream(self->CallOf(stream), error);
        return 0;
      });
  return made;
}

}  // namespace mpsd::load
