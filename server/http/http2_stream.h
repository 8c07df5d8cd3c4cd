// Http2Stream: one request of HTTP/2, and its reply.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "server/http/connection.h"
#include "server/http/http_call.h"
#include "server/http/http_parser.h"
#include "server/http/write_batch.h"

namespace mpsd {

class Http2Connection;

// Hands the reply to nghttp2 as fast as the client's window allows.
//
//   kHead → kBody → kServing ⇄ kWriting → over
//
// It goes back to kServing for further parts. HTTP/1.1 has the same time limits. A stream whose
// task asked for pieces skips kBody. The client's window opens by what the task takes, so at most a
// window of bytes waits here.
//
// After a reset the task gets ClientLeft() and replies all the same. So the stream outlives what
// nghttp2 knows of it.
//
// Lives on its connection's thread, except HttpCall's ReplyPart(), Reply() and Resume(). Owned by
// its Http2Connection.
//
// Invariants:
//   1. A stream has at most one task, which gets Over() once, after its reply, and PartTaken()
//      once, after each part.
//   2. The body's bytes were taken from the context's `bodies`, until DropBody().
class Http2Stream final : public HttpCall, private Replying {
 public:
  Http2Stream(Http2Connection* connection, const ConnectionContext* context, int32_t id);
  ~Http2Stream() override;

  int32_t id() const { return id_; }
  bool IsLate(int64_t now_ns) const { return now_ns >= expires_ns_; }
  void TimeIsUp();

  // A header after the head is a trailer, which is ignored.
  void AddHeader(absl::string_view name, absl::string_view value);
  void HeadIsThere(bool has_body);
  void AddBody(absl::string_view bytes);
  void BodyIsThere();

  // The place that the task gave for the rest, if `bytes` fit. AddBody() gets the bytes there too.
  absl::Span<char> PlaceOf(size_t bytes) const {
    const bool has_place = phase_ == Phase::kBody && bytes <= rest_.size();
    return has_place ? rest_ : absl::Span<char>();
  }

  void TellGrown();

  void EndSoon();

  // The stream is gone for nghttp2, or the connection has ended.
  void Closed();

  // How many bytes can be written now. Sets nghttp2's flags if the reply ends here.
  // NGHTTP2_ERR_DEFERRED: the next part is not there yet.
  ssize_t TakeForWriting(size_t most, uint32_t* flags);
  void Write(size_t bytes, WriteBatch* out);

  void PartIsWritten();

  bool has_begun() const { return has_begun_; }

  // The stream is destroyed next.
  void End();

  // HttpCall.
  const HttpRequest& request() const override { return request_; }
  const std::string& peer() const override;
  absl::Span<const std::string> certificate_names() const override;
  ConnectionId connection() override;
  bool by_control_socket() const override;
  bool takes_trailers() const override { return true; }
  void StreamBody(int64_t until_ns) override;
  std::string TakeBody() override;
  void DropBody() override;
  void DropBytes(size_t bytes) override;
  void AddHeaders(absl::string_view lines) override {
    more_headers_.append(lines.data(), lines.size());
  }
  void AddTrailers(absl::string_view lines) override {
    more_trailers_.append(lines.data(), lines.size());
  }
  void ReplyPart(HttpReply part) override;
  void Reply(HttpReply reply) override;
  void Resume() override;

 private:
  enum class Phase : uint8_t { kHead, kBody, kServing, kWriting };

  // Places in HttpRequest::head.
  struct Line {
    uint32_t begin = 0;
    uint32_t name_bytes = 0;
    uint32_t value_bytes = 0;
  };

  void ReplyIsThere() override { gives_part_ ? BeginPart() : BeginReply(); }
  void Enter(Phase phase, int64_t expires_ns);
  absl::string_view NameOf(const Line& line) const;
  absl::string_view ValueOf(const Line& line) const;
  HttpFault ReadHead();
  void BeginBody();
  bool OfferBeginning(absl::string_view bytes);
  void AddToRest(absl::string_view bytes);
  void AddPiece(absl::string_view bytes);
  void EndPieces(BodyEnd end);
  void GiveUp();
  void Serve(BodyEnd end);
  void Refuse(const HttpFault& fault);
  void BeginPart();
  void BeginReply();
  void SubmitTrailers();
  void Submit(bool has_length);
  void EndBody(uint32_t* flags);
  void PartIsOver(bool taken);

  Http2Connection* const connection_;
  const ConnectionContext* const context_;
  const int32_t id_;

  Phase phase_ = Phase::kHead;
  int64_t expires_ns_;
  absl::InlinedVector<Line, 12> lines_;  // with the pseudo headers
  bool head_is_large_ = false;
  uint64_t announced_bytes_ = 0;  // 0: unknown
  HttpRequest request_;           // constant while a task has it
  uint64_t taken_bytes_ = 0;      // from `bodies`
  int64_t until_ns_ = INT64_MAX;  // from StreamBody()
  HttpTask* task_ = nullptr;
  absl::Span<char> rest_;  // the task's place for the rest
  bool has_beginning_ = false;
  bool was_offered_ = false;
  bool is_streamed_ = false;
  bool body_ended_ = false;
  bool was_cut_ = false;  // a part was late: only trailers follow
  bool has_begun_ = false;
  bool owes_reply_ = false;
  bool told_left_ = false;
  bool is_closed_ = false;
  bool has_parts_ = false;
  bool part_out_ = false;
  HttpReply reply_;  // written, like the next, by the replying thread
  bool gives_part_ = false;
  size_t written_ = 0;    // bytes of the body, or of the part
  size_t promised_ = 0;   // known to nghttp2, but not written
  std::string cut_rest_;  // these, of a cut part
  std::string more_headers_;
  std::string more_trailers_;
};

}  // namespace mpsd
