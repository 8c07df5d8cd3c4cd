// Http2Stream: one request on a connection of HTTP/2, and its reply.
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

// Collects what the client sends, gives it to the handler, and hands the reply to nghttp2 piece by
// piece, as fast as the client's window allows.
//
//   kHead → kBody → kServing ⇄ kWriting → over
//
// From kWriting the stream goes back to kServing where the reply has further parts. The heads, the
// body and the taking of a reply have the same times as for HTTP/1.1. A stream whose task
// has asked for pieces goes from kHead to kServing, and its body comes meanwhile. The client's
// window is opened by what the task takes, so at most a window of bytes waits here.
//
// A client may reset the stream at any time. The task learns of that by ClientLeft() and replies
// all the same, so the stream outlives what nghttp2 knows of it.
//
// Lives on its connection's thread, except HttpCall's ReplyPart(), Reply() and Resume(). Owned by
// its Http2Connection.
//
// Invariants:
//   1. A stream has at most one task. The task gets Over() once, after its reply, and PartTaken()
//      once after each part.
//   2. The bytes of the body were taken from the context's `bodies`, until DropBody().
class Http2Stream final : public HttpCall, private Replying {
 public:
  Http2Stream(Http2Connection* connection, const ConnectionContext* context, int32_t id);
  ~Http2Stream() override;

  int32_t id() const { return id_; }
  bool IsLate(int64_t now_ns) const { return now_ns >= expires_ns_; }
  void TimeIsUp();

  // Called with what nghttp2 has read. A header after the head is a trailer, which nobody reads.
  void AddHeader(absl::string_view name, absl::string_view value);
  void HeadIsThere(bool has_body);
  void AddBody(absl::string_view bytes);
  void BodyIsThere();

  // Where the rest of the body goes, if the task gives its place and `bytes` fit there. Bytes that
  // are put there at once come to AddBody() from there.
  absl::Span<char> PlaceOf(size_t bytes) const {
    const bool has_place = phase_ == Phase::kBody && bytes <= rest_.size();
    return has_place ? rest_ : absl::Span<char>();
  }

  // Tells the task of pieces that it has not taken yet.
  void TellGrown();

  void EndSoon();

  // nghttp2 knows the stream no more, or the connection has ended.
  void Closed();

  // How many bytes of the reply can be written now, at most `most`. Sets nghttp2's flags: the reply
  // ends here. NGHTTP2_ERR_DEFERRED: the next part is not there yet.
  ssize_t TakeForWriting(size_t most, uint32_t* flags);
  // Appends what was taken so.
  void Write(size_t bytes, WriteBatch* out);

  void PartIsWritten();

  bool has_begun() const { return has_begun_; }

  // The request is over: the task is told. The stream is destroyed next.
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

  // A header, by its place in HttpRequest::head.
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
  int64_t expires_ns_;                   // the phase
  absl::InlinedVector<Line, 12> lines_;  // the head, with the pseudo headers
  bool head_is_large_ = false;           // more than the server takes
  uint64_t announced_bytes_ = 0;         // the length of the body; 0: nobody knows
  HttpRequest request_;                  // constant while a task has it
  uint64_t taken_bytes_ = 0;             // taken from the `bodies`
  int64_t until_ns_ = INT64_MAX;         // StreamBody()
  HttpTask* task_ = nullptr;
  absl::Span<char> rest_;  // where the rest of the body goes, if the task has its beginning
  bool has_beginning_ = false;
  bool was_offered_ = false;  // the beginning
  bool is_streamed_ = false;  // the body comes in pieces
  bool body_ended_ = false;   // no further piece comes
  bool was_cut_ = false;      // a part was not taken in time: only trailers follow
  bool has_begun_ = false;    // the request
  bool owes_reply_ = false;   // the handler does
  bool told_left_ = false;    // ClientLeft()
  bool is_closed_ = false;    // Closed()
  bool has_parts_ = false;    // the reply
  bool part_out_ = false;     // a part is being written
  HttpReply reply_;           // this and the next are written by the thread that replies
  bool gives_part_ = false;   // `reply_` is a part
  size_t written_ = 0;        // bytes of the reply's body, or of the part
  size_t promised_ = 0;       // bytes that nghttp2 knows of and has not written
  std::string cut_rest_;      // these, of a part that was cut
  std::string more_headers_;  // further ones, for the reply
  std::string more_trailers_;
};

}  // namespace mpsd
