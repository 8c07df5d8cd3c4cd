// HttpConnection: one client's connection, and the request on it.
#pragma once

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "proto/base/clock.h"
#include "proto/base/thread_role.h"
#include "server/http/http_call.h"
#include "server/http/http_options.h"
#include "server/http/http_parser.h"
#include "server/http/http_stream.h"
#include "server/listen/connection_shares.h"
#include "server/request/held_bytes.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

class HttpConnection;

// Shared by the connections of one thread. Constant. The referents outlive the connections.
struct HttpConnectionContext {
  const HttpServerOptions* options = nullptr;
  boost::asio::io_context* io = nullptr;
  const ThreadRole* thread = nullptr;
  HttpHandler* handler = nullptr;
  HeldBytes* bodies = nullptr;
  ServerMetrics* metrics = nullptr;
  const Clock* clock = nullptr;
  std::function<void(HttpConnection*)> ended;  // may destroy the connection
};

// Reads requests, gives each to the handler, and writes its reply, one request at a time. The bytes
// of later requests wait in a small buffer and then in the kernel. A pipeline needs no other order
// or backpressure. While a request is served the connection still reads, to notice that the client
// has left.
//
//   kHandshake → kIdle → kHead → kBody → kServing ⇄ kWriting → kIdle …      served
//                                                            → kLingering → kEnded
//
// It returns from kWriting to kServing if the reply has further parts. Each phase except kServing
// has a time limit, which the thread checks now and then, so a trickle of bytes cannot prolong it.
// A served request has its own deadline. If a reply comes before the body was read, the connection
// announces its end and reads on for a moment, so that the client gets the reply and no reset.
//
// Lives on its thread, except HttpCall's ReplyPart(), Reply() and Resume(). Owned by its
// HttpThread, and kept alive by operations under way.
//
// Invariants:
//   1. A request has at most one task. Each task gets Over() once, after its reply, and PartTaken()
//      once after each part.
//   2. The bytes of held bodies are taken from `bodies`. Those of a dropped body are given back
//      once no read into it is under way.
//   3. Nothing moves in `input_` during a read into it, and no body is freed during a read into it.
class HttpConnection final : public HttpCall, public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(const HttpConnectionContext* context, HttpSocket socket,
                 std::shared_ptr<boost::asio::ssl::context> tls, std::string peer,
                 std::shared_ptr<ConnectionShares::Use> use);
  ~HttpConnection() override;

  void Start();

  // IsLate(): the current phase has used up its time; TimeIsUp() then ends it.
  bool IsLate(int64_t now_ns) const;
  void TimeIsUp();

  // The next reply whose head is not written yet is the last.
  void EndWithReply();

  // The server stops: a connection without a request ends now, another one with its reply.
  void EndSoon();

  // Another connection takes this one's place: it ends now, or with the reply to its request.
  void MakeRoom();

  // Ends the connection now. Its request still gets a reply, which is not written.
  void Cut();

  // HttpCall.
  const HttpRequest& request() const override { return request_; }
  const std::string& peer() const override { return peer_; }
  absl::Span<const std::string> certificate_names() const override { return names_; }
  ConnectionId connection() override;
  std::string TakeBody() override { return request_.body.Take(); }
  void DropBody() override;
  void AddHeaders(absl::string_view lines) override {
    more_headers_.append(lines.data(), lines.size());
  }
  void ReplyPart(HttpReply part) override;
  void Reply(HttpReply reply) override;
  void Resume() override;

 private:
  enum class Phase : uint8_t {
    kHandshake,
    kIdle,       // no byte of a request has come
    kHead,       // a request's head is coming
    kBody,       // a request's body is coming
    kServing,    // its handler has it
    kWriting,    // its reply is being written
    kLingering,  // the last reply was written
    kEnded,      // the socket is closed
  };

  static bool IsBusy(Phase phase) { return phase >= Phase::kBody && phase <= Phase::kWriting; }

  void Enter(Phase phase, int64_t time_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void Read() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  bool RoomForInput() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void ReadInput() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void ReadBody() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void DidRead(bool failed, size_t bytes, bool into_body);
  void ClientLeft() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);

  void SkipEmptyLines() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void Advance() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  bool TakeHead() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void BeginRequest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void BeginBody() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  bool ReadWholeBody() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  bool ReadChunks() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  bool Account() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void GiveBack() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void Serve(BodyEnd end) ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void Refuse(const HttpFault& fault) ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void WriteContinue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);

  void BeginPart();
  void BeginReply();
  void FramePart(bool is_last) ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void PartIsOver(bool taken) ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  HttpNext Next() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void Write() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void DidWrite(bool failed, size_t bytes);
  void WriteFailed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void EndRequest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void Linger() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void DidEndWriting();
  void Close() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void LeaveIfDone() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);

  absl::string_view Input() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_) {
    return {input_.data() + begin_, end_ - begin_};
  }

  const HttpConnectionContext* const context_;
  const ThreadRole* const thread_;
  const std::string peer_;
  const uint64_t host_;             // hash of the peer's host
  ConnectionId id_;                 // once somebody has asked for it
  const int64_t end_at_ns_;         // by its age
  std::vector<std::string> names_;  // constant after the handshake

  const std::shared_ptr<ConnectionShares::Use> use_;
  HttpStream stream_ ABSL_GUARDED_BY(thread_);
  Phase phase_ ABSL_GUARDED_BY(thread_) = Phase::kHandshake;
  int64_t expires_ns_ ABSL_GUARDED_BY(thread_) = INT64_MAX;  // when the phase's time is up
  bool reading_ ABSL_GUARDED_BY(thread_) = false;            // a read is under way
  bool reads_body_ ABSL_GUARDED_BY(thread_) = false;         // that read goes into the body
  bool writing_ ABSL_GUARDED_BY(thread_) = false;            // a write is under way
  bool ends_ ABSL_GUARDED_BY(thread_) = false;               // with the head of the next reply
  uint64_t requests_ ABSL_GUARDED_BY(thread_) = 0;           // requests that have begun
  bool told_end_ ABSL_GUARDED_BY(thread_) = false;           // the last reply's head said so
  bool leaves_ ABSL_GUARDED_BY(thread_) = false;             // no request will come

  std::vector<char> input_ ABSL_GUARDED_BY(thread_);  // bytes from begin_ to end_ are not taken yet
  size_t begin_ ABSL_GUARDED_BY(thread_) = 0;
  size_t end_ ABSL_GUARDED_BY(thread_) = 0;
  size_t searched_ ABSL_GUARDED_BY(thread_) = 0;  // bytes of Input() searched for the end of a head

  HttpParser parser_ ABSL_GUARDED_BY(thread_);
  HttpFraming framing_ ABSL_GUARDED_BY(thread_);
  HttpRequest request_;  // constant while a task has it
  std::optional<std::string> retired_body_ ABSL_GUARDED_BY(thread_);  // during a read into it
  uint64_t taken_bytes_ ABSL_GUARDED_BY(thread_) = 0;                 // taken from `bodies`
  HttpTask* task_ ABSL_GUARDED_BY(thread_) = nullptr;                 // serves the request
  bool owes_reply_ ABSL_GUARDED_BY(thread_) = false;  // the handler still has to reply
  bool told_left_ ABSL_GUARDED_BY(thread_) = false;   // ClientLeft() was called
  bool has_parts_ ABSL_GUARDED_BY(thread_) = false;   // the reply has parts
  bool part_out_ ABSL_GUARDED_BY(thread_) = false;    // a part is being written

  // Written by the thread that replies. A post lies between, and PartTaken() on the way back.
  HttpReply reply_;

  std::string more_headers_;  // for the reply; not written after it is given
  absl::string_view continue_ ABSL_GUARDED_BY(thread_);  // the rest of "100 Continue"
  std::string reply_head_ ABSL_GUARDED_BY(thread_);
  size_t written_ ABSL_GUARDED_BY(thread_) = 0;  // bytes of head and body together
};

}  // namespace mpsd
