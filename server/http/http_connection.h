// HttpConnection: one client's connection of HTTP/1.1.
#pragma once

#include <array>
#include <boost/asio/buffer.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/inlined_vector.h"
#include "server/http/connection.h"
#include "server/http/http_call.h"
#include "server/http/http_parser.h"

namespace mpsd {

// Serves one request at a time; a pipeline's next ones wait in a small buffer, then in the kernel.
// While it serves, it still reads, to notice that the client has left.
//
//   kHandshake → kIdle → kHead → kBody → kServing ⇄ kWriting → kIdle …      served
//                                                            → kLingering → kEnded
//
// It goes back to kServing for further parts. Each phase but kServing has a time limit, which a
// trickle of bytes cannot prolong. A reply before the whole body ends the connection.
//
// A client may speak HTTP/2 by its TLS handshake or first bytes: then an Http2Connection takes the
// socket.
//
// Lives on its thread, except HttpCall's ReplyPart(), Reply() and Resume(). Owned by its
// HttpThread, and kept alive by operations under way.
//
// Invariants:
//   1. A request has at most one task, which gets Over() once, after its reply, and PartTaken()
//      once, after each part.
//   2. The bytes of held bodies were taken from `bodies`. A dropped body's are given back once no
//      read into it is out.
//   3. Nothing moves in `input_`, and no body is freed, during a read into it.
class HttpConnection final : public Connection,
                             public HttpCall,
                             private Replying,
                             public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(const ConnectionContext* context, ConnectionClient client);
  ~HttpConnection() override;

  // Connection.
  void Start() override;
  bool IsLate(int64_t now_ns) const override;
  void TimeIsUp() override;
  void EndWithReply() override;
  void EndSoon() override;
  void Cut() override;

  // Another connection needs this one's place.
  void MakeRoom();

  // HttpCall.
  const HttpRequest& request() const override { return request_; }
  const std::string& peer() const override { return client_.peer; }
  absl::Span<const std::string> certificate_names() const override {
    return client_.certificate_names;
  }
  ConnectionId connection() override;
  bool by_control_socket() const override { return client_.by_control_socket; }
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
    kIdle,
    kHead,
    kBody,
    kServing,
    kWriting,
    kLingering,
    kEnded,  // the socket is closed
  };

  using Unwritten = absl::InlinedVector<boost::asio::const_buffer, 4>;

  static bool IsBusy(Phase phase) { return phase >= Phase::kBody && phase <= Phase::kWriting; }

  void Enter(Phase phase, int64_t time_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void Read() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  bool RoomForInput() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void AwaitInput() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void InputIsReadable(bool failed);
  void ReadInput() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void ReadBody() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void AwaitRest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void RestIsReadable(bool failed);
  void DidRead(bool failed, size_t bytes, bool into_body);
  void ClientLeft() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);

  bool BeginsHttp2() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void BecomeHttp2() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void SkipEmptyLines() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void Advance() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  bool TakeHead() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void BeginRequest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void BeginBody() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  bool ReadWholeBody() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  bool MayOffer() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void OfferBeginning() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  bool ReadChunks() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  bool Account() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void GiveBack() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void Serve(BodyEnd end) ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void Refuse(const HttpFault& fault) ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void WriteContinue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);

  void ReplyIsThere() override { gives_part_ ? BeginPart() : BeginReply(); }
  void BeginPart();
  void BeginReply();
  void FramePart(bool is_last) ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void PartIsOver(bool taken) ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  HttpNext Next() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void Write() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  void WriteNow() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
  Unwritten Rest() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_);
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

  const ConnectionContext* const context_;
  const ThreadRole* const thread_;
  ConnectionClient client_;  // constant after the handshake, until handed on
  const uint64_t host_;      // the peer, as a hash
  std::shared_ptr<ConnectionMark> id_;

  Phase phase_ ABSL_GUARDED_BY(thread_) = Phase::kHandshake;
  int64_t expires_ns_ ABSL_GUARDED_BY(thread_) = INT64_MAX;  // when the phase ends
  bool reading_ ABSL_GUARDED_BY(thread_) = false;
  bool reads_body_ ABSL_GUARDED_BY(thread_) = false;
  bool writing_ ABSL_GUARDED_BY(thread_) = false;
  bool ends_ ABSL_GUARDED_BY(thread_) = false;  // with the next reply
  uint64_t requests_ ABSL_GUARDED_BY(thread_) = 0;
  bool told_end_ ABSL_GUARDED_BY(thread_) = false;  // to the client, in the last reply's head
  bool leaves_ ABSL_GUARDED_BY(thread_) = false;

  std::vector<char> input_ ABSL_GUARDED_BY(thread_);  // bytes from begin_ to end_ are not taken yet
  size_t begin_ ABSL_GUARDED_BY(thread_) = 0;
  size_t end_ ABSL_GUARDED_BY(thread_) = 0;
  size_t searched_ ABSL_GUARDED_BY(thread_) = 0;  // bytes of Input() without the end of a head

  HttpParser parser_ ABSL_GUARDED_BY(thread_);
  HttpFraming framing_ ABSL_GUARDED_BY(thread_);
  HttpRequest request_;  // constant while a task has it
  std::optional<std::string> retired_body_ ABSL_GUARDED_BY(thread_);  // during a read into it
  uint64_t taken_bytes_ ABSL_GUARDED_BY(thread_) = 0;                 // from `bodies`
  bool was_offered_ ABSL_GUARDED_BY(thread_) = false;
  absl::Span<char> rest_ ABSL_GUARDED_BY(thread_);  // the task's place for the rest
  HttpTask* task_ ABSL_GUARDED_BY(thread_) = nullptr;
  bool owes_reply_ ABSL_GUARDED_BY(thread_) = false;
  bool told_left_ ABSL_GUARDED_BY(thread_) = false;
  bool has_parts_ ABSL_GUARDED_BY(thread_) = false;
  bool part_out_ ABSL_GUARDED_BY(thread_) = false;

  // Written by the replying thread. The queue and PartTaken() order the accesses.
  HttpReply reply_;
  bool gives_part_ = false;

  std::string more_headers_;                             // not written after the reply
  absl::string_view continue_ ABSL_GUARDED_BY(thread_);  // the rest of "100 Continue"
  std::string reply_head_ ABSL_GUARDED_BY(thread_);
  size_t written_ ABSL_GUARDED_BY(thread_) = 0;  // bytes of head and body
};

}  // namespace mpsd
