// Http2Client: a client's end of a connection of HTTP/2, by nghttp2.
#pragma once

#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/base/fd.h"

namespace mpsd {

// Sends requests and keeps what comes of each. Blocks until it has what a call asks for, or the
// server has ended the connection. Thread-compatible.
class Http2Client {
 public:
  struct Answer {
    std::map<std::string, std::string> headers;
    std::string informational;  // the status before the final one
    std::string body;
    bool is_over = false;
    uint32_t code = 0;  // by which the stream was closed
  };
  using Headers = std::vector<std::pair<std::string, std::string>>;

  explicit Http2Client(UniqueFd fd) : fd_(std::move(fd)) {
    nghttp2_session_callbacks* callbacks = nullptr;
    EXPECT_EQ(nghttp2_session_callbacks_new(&callbacks), 0);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, OnHeader);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, OnData);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, OnClose);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, OnFrame);
    nghttp2_option* option = nullptr;
    EXPECT_EQ(nghttp2_option_new(&option), 0);
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_session_client_new2(&session_, callbacks, this, option);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, nullptr, 0);
  }
  ~Http2Client() { nghttp2_session_del(session_); }
  Http2Client(const Http2Client&) = delete;
  Http2Client& operator=(const Http2Client&) = delete;

  // Begins a request. A body that is not whole is gone on with by SendMore().
  int32_t Begin(const std::string& method, const std::string& path, const std::string& body = "",
                const Headers& more = {}, bool is_whole = true) {
    Headers headers = {{":method", method}, {":path", path}, {":scheme", "http"}};
    headers.push_back({":authority", "h"});
    headers.insert(headers.end(), more.begin(), more.end());
    return BeginWith(headers, body, is_whole);
  }

  int32_t BeginWith(const Headers& headers, const std::string& body, bool is_whole) {
    std::vector<nghttp2_nv> lines;
    for (const auto& [name, value] : headers) lines.push_back(Line(name, value));
    nghttp2_data_provider source{};
    source.read_callback = ReadBody;
    const bool has_body = !body.empty() || !is_whole;
    const int32_t stream = nghttp2_submit_request(session_, nullptr, lines.data(), lines.size(),
                                                  has_body ? &source : nullptr, nullptr);
    bodies_[stream] = {body, is_whole};
    SendAll();
    return stream;
  }

  void SendMore(int32_t stream, const std::string& bytes, bool is_last) {
    bodies_[stream].first += bytes;
    bodies_[stream].second = is_last;
    nghttp2_session_resume_data(session_, stream);
    SendAll();
  }

  void Reset(int32_t stream) {
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream, NGHTTP2_CANCEL);
    SendAll();
  }

  void Ping() {
    nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
    SendAll();
  }

  // Lets the server send so many bytes without a word from here, on each stream that begins later
  // and on all together.
  void Widen(int32_t bytes) {
    const nghttp2_settings_entry window = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
                                           static_cast<uint32_t>(bytes)};
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &window, 1);
    nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, bytes);
    SendAll();
  }

  // Lets the server send so many bytes of the stream more.
  void Consume(int32_t stream, size_t bytes) {
    nghttp2_session_consume(session_, stream, bytes);
    SendAll();
  }

  // The answer, once it is over; what has come of it when the connection ends before.
  const Answer& Await(int32_t stream) {
    while (!answers_[stream].is_over && ReadSome()) {
    }
    return answers_[stream];
  }

  template <typename Condition>
  bool AwaitThat(Condition condition) {
    while (!condition()) {
      if (!ReadSome()) return condition();
    }
    return true;
  }

  const Answer& answer(int32_t stream) { return answers_[stream]; }
  int goaways() const { return goaways_; }
  uint32_t goaway_code() const { return goaway_code_; }

  // Reads until the server has ended the connection.
  void AwaitEnd() {
    while (ReadSome()) {
    }
  }

  // Reads what the server sends next. False once it has ended the connection.
  bool ReadSome() {
    char buffer[16384];
    const ssize_t count = recv(fd_.get(), buffer, sizeof(buffer), 0);
    if (count <= 0) return false;
    const uint8_t* const bytes = reinterpret_cast<const uint8_t*>(buffer);
    if (nghttp2_session_mem_recv(session_, bytes, static_cast<size_t>(count)) < 0) return false;
    SendAll();
    return true;
  }

 private:
  static nghttp2_nv Line(const std::string& name, const std::string& value) {
    const auto bytes = [](const std::string& text) {
      return const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(text.data()));
    };
    return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
  }

  static Http2Client* Of(void* user) { return static_cast<Http2Client*>(user); }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_bytes, const uint8_t* value, size_t value_bytes, uint8_t,
                      void* user) {
    Answer& answer = Of(user)->answers_[frame->hd.stream_id];
    const std::string text(reinterpret_cast<const char*>(value), value_bytes);
    const std::string key(reinterpret_cast<const char*>(name), name_bytes);
    if (key == ":status" && text[0] == '1') {
      answer.informational = text;
    } else {
      answer.headers[key] = text;
    }
    return 0;
  }
  static int OnData(nghttp2_session*, uint8_t, int32_t stream, const uint8_t* bytes, size_t count,
                    void* user) {
    Of(user)->answers_[stream].body.append(reinterpret_cast<const char*>(bytes), count);
    return 0;
  }
  static int OnClose(nghttp2_session*, int32_t stream, uint32_t code, void* user) {
    Of(user)->answers_[stream].is_over = true;
    Of(user)->answers_[stream].code = code;
    return 0;
  }
  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type != NGHTTP2_GOAWAY) return 0;
    ++Of(user)->goaways_;
    Of(user)->goaway_code_ = frame->goaway.error_code;
    return 0;
  }
  static ssize_t ReadBody(nghttp2_session*, int32_t stream, uint8_t* to, size_t most,
                          uint32_t* flags, nghttp2_data_source*, void* user) {
    auto& [bytes, is_whole] = Of(user)->bodies_[stream];
    if (bytes.empty() && !is_whole) return NGHTTP2_ERR_DEFERRED;
    const size_t count = bytes.copy(reinterpret_cast<char*>(to), most);
    bytes.erase(0, count);
    if (bytes.empty() && is_whole) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(count);
  }

  // A server that has cut the connection takes nothing.
  void SendAll() {
    const uint8_t* bytes = nullptr;
    ssize_t count = 0;
    while ((count = nghttp2_session_mem_send(session_, &bytes)) > 0) {
      ssize_t sent = 0;
      while (sent < count) {
        const ssize_t now =
            send(fd_.get(), bytes + sent, static_cast<size_t>(count - sent), MSG_NOSIGNAL);
        if (now <= 0) return;
        sent += now;
      }
    }
  }

  const UniqueFd fd_;
  nghttp2_session* session_ = nullptr;
  std::map<int32_t, Answer> answers_;
  std::map<int32_t, std::pair<std::string, bool>> bodies_;
  int goaways_ = 0;
  uint32_t goaway_code_ = 0;
};

}  // namespace mpsd
