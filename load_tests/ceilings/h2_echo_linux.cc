// mpsd-h2-echo: the ceiling for gRPC on nghttp2, with one thread.
//
// Run with:
//   mpsd-h2-echo --port 0      (prints "listening ADDRESS", of loopback; ends on SIGTERM)

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"
#include "proto/base/check.h"
#include "proto/base/clock.h"
#include "proto/base/fd.h"

namespace {

constexpr size_t kRoundBytes = 256 << 10;      // read from one connection in a turn
constexpr size_t kOutputBytes = 256 << 10;     // unwritten, for one connection
constexpr size_t kHeldBytesMax = 64 << 20;     // one connection's requests
constexpr size_t kReservedBytesMax = 1 << 20;  // for an announced message before it comes
constexpr size_t kHeaderBytesMax = 16 << 10;
constexpr size_t kConnectionsMax = 1024;
constexpr size_t kPrefixBytes = 5;  // gRPC's flag and length before each message
constexpr uint32_t kCallsMax = 128;
constexpr uint32_t kStreamWindowBytes = 1 << 20;
constexpr int32_t kConnectionWindowBytes = 16 << 20;
constexpr std::string_view kInferPath = "/inference.GRPCInferenceService/ModelInfer";

nghttp2_nv Field(std::string_view name, std::string_view value) {
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
}

// The time of a grpc-timeout header, such as "250m"; 0 if malformed.
int64_t TimeoutNs(std::string_view text) {
  constexpr std::string_view kUnits = "numSMH";
  constexpr std::array<int64_t, 6> kUnitNs = {1,          1000,        1000000,
                                              1000000000, 60000000000, 3600000000000};
  int64_t count = 0;
  if (text.empty() || text.size() > 9) return 0;
  const size_t unit = kUnits.find(text.back());
  if (unit == std::string_view::npos) return 0;
  const char* const end = text.data() + text.size() - 1;
  if (std::from_chars(text.data(), end, count).ptr != end || count < 0) return 0;
  constexpr int64_t kDayNs = 24 * kUnitNs.back();
  return count > kDayNs / kUnitNs[unit] ? kDayNs : count * kUnitNs[unit];
}

struct Call {
  bool known_path = false;
  int64_t deadline_ns = 0;  // 0: none
  size_t header_bytes = 0;
  size_t sent = 0;   // already sent back
  std::string body;  // with its prefix
};

// One connection. Lives on the server's thread.
class Peer {
 public:
  Peer(mpsd::UniqueFd fd, const nghttp2_session_callbacks* callbacks, const nghttp2_option* option)
      : fd_(std::move(fd)) {
    MPSD_CHECK(nghttp2_session_server_new2(&session_, callbacks, this, option) == 0);
    const std::array<nghttp2_settings_entry, 3> settings = {
        {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kCallsMax},
         {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindowBytes},
         {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1}}};
    MPSD_CHECK(nghttp2_submit_settings(session_, 0, settings.data(), settings.size()) == 0);
    MPSD_CHECK(nghttp2_session_set_local_window_size(session_, 0, 0, kConnectionWindowBytes) == 0);
  }
  Peer(const Peer&) = delete;
  ~Peer() { nghttp2_session_del(session_); }

  int fd() const { return fd_.get(); }
  bool blocked() const { return written_ < output_.size(); }

  // False when the connection is over.
  bool Read(std::vector<uint8_t>* buffer) {
    const ssize_t count = recv(fd(), buffer->data(), buffer->size(), 0);
    if (count == 0) return false;
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    return nghttp2_session_mem_recv(session_, buffer->data(), static_cast<size_t>(count)) >= 0;
  }

  // False when the connection is over.
  bool Write() {
    do {
      if (!Fill() || !Drain()) return false;
    } while (!blocked() && nghttp2_session_want_write(session_) != 0 && progress_);
    return nghttp2_session_want_read(session_) != 0 ||
           (!blocked() && nghttp2_session_want_write(session_) != 0);
  }

  static nghttp2_session_callbacks* MakeCallbacks();

 private:
  bool Fill() {
    const size_t before = output_.size();
    while (output_.size() < kOutputBytes) {
      const uint8_t* data = nullptr;
      const ssize_t count = nghttp2_session_mem_send(session_, &data);
      if (count < 0) return false;
      if (count == 0) break;
      output_.append(reinterpret_cast<const char*>(data), static_cast<size_t>(count));
    }
    progress_ = output_.size() > before;
    return true;
  }

  bool Drain() {
    while (blocked()) {
      const ssize_t count =
          send(fd(), output_.data() + written_, output_.size() - written_, MSG_NOSIGNAL);
      if (count < 0) return errno == EAGAIN || errno == EINTR;
      written_ += static_cast<size_t>(count);
    }
    output_.clear();
    written_ = 0;
    return true;
  }

  Call* Find(int32_t stream) {
    const auto found = calls_.find(stream);
    return found == calls_.end() ? nullptr : &found->second;
  }

  int TakeHeader(int32_t stream, std::string_view name, std::string_view value) {
    Call* call = Find(stream);
    if (call == nullptr) return 0;
    call->header_bytes += name.size() + value.size();
    if (call->header_bytes > kHeaderBytesMax) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    if (name == ":path") call->known_path = value == kInferPath;
    if (name == "grpc-timeout") call->deadline_ns = mpsd::Clock::Real()->NowNs() + TimeoutNs(value);
    return 0;
  }

  void TakeData(int32_t stream, std::string_view data) {
    Call* call = Find(stream);
    if (call == nullptr) return;
    if (held_bytes_ + data.size() > kHeldBytesMax) {
      nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream, NGHTTP2_ENHANCE_YOUR_CALM);
      return Forget(stream);
    }
    if (call->body.empty() && data.size() >= kPrefixBytes) {
      uint32_t length = 0;
      std::memcpy(&length, data.data() + 1, sizeof(length));
      call->body.reserve(std::min(kPrefixBytes + ntohl(length), kReservedBytesMax));
    }
    call->body.append(data);
    held_bytes_ += data.size();
  }

  int Answer(int32_t stream) {
    const Call* call = Find(stream);
    if (call == nullptr) return 0;
    const std::array<nghttp2_nv, 3> fields = {Field(":status", "200"),
                                              Field("content-type", "application/grpc"),
                                              Field("grpc-status", call->known_path ? "4" : "12")};
    const bool late = call->deadline_ns != 0 && call->deadline_ns < mpsd::Clock::Real()->NowNs();
    if (!call->known_path || late) {
      return nghttp2_submit_response(session_, stream, fields.data(), fields.size(), nullptr);
    }
    const nghttp2_data_provider provider = {{.fd = 0}, OnAnswerRead};
    return nghttp2_submit_response(session_, stream, fields.data(), 2, &provider);
  }

  // Bytes of the answer for the next frame. Trailers follow the last frame.
  ssize_t NextPiece(int32_t stream, size_t most, uint32_t* flags) {
    const Call* call = Find(stream);
    if (call == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    const size_t rest = call->body.size() - call->sent;
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (rest <= most) {
      *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
      const nghttp2_nv status = Field("grpc-status", "0");
      if (nghttp2_submit_trailer(session_, stream, &status, 1) != 0) {
        return NGHTTP2_ERR_CALLBACK_FAILURE;
      }
    }
    return static_cast<ssize_t>(std::min(rest, most));
  }

  int SendPiece(int32_t stream, const uint8_t* head, size_t size) {
    Call* call = Find(stream);
    if (call == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    if (output_.size() >= kOutputBytes) return NGHTTP2_ERR_WOULDBLOCK;
    constexpr size_t kFrameHeadBytes = 9;
    output_.append(reinterpret_cast<const char*>(head), kFrameHeadBytes);
    output_.append(call->body, call->sent, size);
    call->sent += size;
    return 0;
  }

  void Forget(int32_t stream) {
    const auto found = calls_.find(stream);
    if (found == calls_.end()) return;
    held_bytes_ -= found->second.body.size();
    calls_.erase(found);
  }

  static Peer* Of(void* user) { return static_cast<Peer*>(user); }

  static ssize_t OnAnswerRead(nghttp2_session* /*session*/, int32_t stream, uint8_t* /*buffer*/,
                              size_t most, uint32_t* flags, nghttp2_data_source* /*source*/,
                              void* user) {
    return Of(user)->NextPiece(stream, most, flags);
  }

  const mpsd::UniqueFd fd_;
  nghttp2_session* session_ = nullptr;
  absl::node_hash_map<int32_t, Call> calls_;
  size_t held_bytes_ = 0;  // the bodies of calls_
  std::string output_;     // frames; the first written_ bytes are written
  size_t written_ = 0;
  bool progress_ = false;
};

std::string_view Text(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

nghttp2_session_callbacks* Peer::MakeCallbacks() {
  nghttp2_session_callbacks* made = nullptr;
  MPSD_CHECK(nghttp2_session_callbacks_new(&made) == 0);
  nghttp2_session_callbacks_set_on_begin_headers_callback(
      made, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) Of(user)->calls_[frame->hd.stream_id];
        return 0;
      });
  nghttp2_session_callbacks_set_on_header_callback(
      made, [](nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
               const uint8_t* value, size_t value_size, uint8_t, void* user) {
        return Of(user)->TakeHeader(frame->hd.stream_id, Text(name, name_size),
                                    Text(value, value_size));
      });
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
      made,
      [](nghttp2_session*, uint8_t, int32_t stream, const uint8_t* data, size_t size, void* user) {
        Of(user)->TakeData(stream, Text(data, size));
        return 0;
      });
  nghttp2_session_callbacks_set_on_frame_recv_callback(
      made, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        const bool last = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
        const bool call = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
        return call && last ? Of(user)->Answer(frame->hd.stream_id) : 0;
      });
  nghttp2_session_callbacks_set_send_data_callback(
      made, [](nghttp2_session*, nghttp2_frame* frame, const uint8_t* head, size_t size,
               nghttp2_data_source*,
               void* user) { return Of(user)->SendPiece(frame->hd.stream_id, head, size); });
  nghttp2_session_callbacks_set_on_stream_close_callback(
      made, [](nghttp2_session*, int32_t stream, uint32_t, void* user) {
        Of(user)->Forget(stream);
        return 0;
      });
  return made;
}

// nghttp2 has no bound for frames that ask for nothing.
nghttp2_option* MakeOption() {
  nghttp2_option* made = nullptr;
  MPSD_CHECK(nghttp2_option_new(&made) == 0);
  nghttp2_option_set_no_closed_streams(made, 1);
  nghttp2_option_set_stream_reset_rate_limit(made, 1000, 100);
  nghttp2_option_set_max_continuations(made, 8);
  nghttp2_option_set_max_settings(made, 32);
  nghttp2_option_set_max_outbound_ack(made, 1000);
  return made;
}

// Lives on one thread.
class Server {
 public:
  explicit Server(uint16_t port)
      : listener_(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)),
        epoll_(epoll_create1(EPOLL_CLOEXEC)),
        buffer_(kRoundBytes) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    MPSD_CHECK(bind(listener_.get(), generic, size) == 0);
    MPSD_CHECK(listen(listener_.get(), SOMAXCONN) == 0);
    MPSD_CHECK(getsockname(listener_.get(), generic, &size) == 0);
    port_ = ntohs(address.sin_port);
    Watch(listener_.get(), EPOLL_CTL_ADD, EPOLLIN);
  }

  uint16_t port() const { return port_; }

  [[noreturn]] void Run() {
    std::array<epoll_event, 64> events = {};
    while (true) {
      const int count = epoll_wait(epoll_.get(), events.data(), events.size(), -1);
      for (int i = 0; i < count; ++i) {
        if (events[i].data.fd == listener_.get()) {
          Accept();
        } else {
          Serve(events[i].data.fd, events[i].events);
        }
      }
    }
  }

 private:
  void Watch(int fd, int operation, uint32_t events) {
    epoll_event event = {};
    event.events = events;
    event.data.fd = fd;
    MPSD_CHECK(epoll_ctl(epoll_.get(), operation, fd, &event) == 0);
  }

  void Accept() {
    mpsd::UniqueFd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd.valid() || peers_.size() >= kConnectionsMax) return;
    const int one = 1;
    setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    const int number = fd.get();
    Watch(number, EPOLL_CTL_ADD, EPOLLIN);
    peers_[number] = std::make_unique<Peer>(std::move(fd), callbacks_, option_);
  }

  // Does not read from a client that takes no answers.
  void Serve(int fd, uint32_t events) {
    Peer& peer = *peers_.at(fd);
    const bool was_blocked = peer.blocked();
    const bool failed = (events & (EPOLLERR | EPOLLHUP)) != 0;
    if (failed || (!was_blocked && !peer.Read(&buffer_)) || !peer.Write()) {
      peers_.erase(fd);
      return;
    }
    if (peer.blocked() == was_blocked) return;
    Watch(fd, EPOLL_CTL_MOD, was_blocked ? EPOLLIN : EPOLLOUT);
  }

  nghttp2_session_callbacks* const callbacks_ = Peer::MakeCallbacks();
  nghttp2_option* const option_ = MakeOption();
  const mpsd::UniqueFd listener_;
  const mpsd::UniqueFd epoll_;
  uint16_t port_ = 0;
  std::vector<uint8_t> buffer_;
  absl::flat_hash_map<int, std::unique_ptr<Peer>> peers_;
};

}  // namespace

int main(int argc, char** argv) {
  uint16_t port = 0;
  unsigned lifetime_s = 3600;
  CLI::App app("An echo of gRPC calls on nghttp2.");
  app.add_option("--port", port, "of loopback; 0: any free one")->capture_default_str();
  app.add_option("--lifetime", lifetime_s, "seconds after which it ends by itself")
      ->check(CLI::Range(1, 86400))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  alarm(lifetime_s);
  Server server(port);
  std::printf("listening 127.0.0.1:%u\n", static_cast<unsigned>(server.port()));
  std::fflush(stdout);
  server.Run();
}
