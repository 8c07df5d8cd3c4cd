// GrpcStreamTask: one ModelStreamInfer call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "proto/base/thread_role.h"
#include "server/bodies/grpc/trace_context.h"
#include "server/door/door_context.h"
#include "server/door/grpc_form.h"
#include "server/door/grpc_messages.h"
#include "server/door/grpc_stream_request.h"
#include "server/exchange/answer_lines.h"
#include "server/http/http_call.h"

namespace mpsd {

// The HttpDoor makes a task for a call that has passed the gate. A page cannot send and read at the
// same time: gRPC-Web's whole body is there before the first request begins.
//
// Lives on its connection's thread, except Answered(), AnsweredInPart() and Resume(), which come
// from any thread. Owns itself.
//
// Invariants:
//   1. The next message is read only while fewer than kMaxStreamRequests requests wait for their
//      answer or for its writing, these hold at most kMaxStreamHeldBytes of messages, and none is
//      inflated. Otherwise the client's window stays shut.
//   2. At most one part is out: one message, or several small ones that were ready together. The
//      answers of one model leave in the order of their requests. Several answers to one request
//      leave as they come, and each is asked for when the one before it was written.
//   3. The reply is given once: when nothing more is read, no request waits for its answer, and
//      nothing is left to write. A client that closes its side gets all its answers. A client that
//      cancels ends its requests.
//   4. Each Resume() of the call causes one Resumed(), which takes the oldest of `resumed_`. The
//      reply waits until that is empty, so that the task outlives what is on its way to it.
//   5. A part not taken kUntakenAnswerNs after the deadline of its first due request, or after its
//      turn came if that is later, ends the call with DEADLINE_EXCEEDED.
class GrpcStreamTask final : public HttpTask, public GrpcStreamAnswers {
 public:
  struct Entry {
    GrpcKind kind = GrpcKind::kOwn;
    BodyCoding coding = BodyCoding::kPlain;
    int64_t end_ns = 0;  // GrpcEnd()
    OpenCalls::Place place;
    Grant grant;
  };

  // The context outlives the task.
  GrpcStreamTask(const DoorContext* context, HttpCall* call, Entry entry);

  // HttpTask.
  void BodyGrew() override;
  void Serve(BodyEnd body) override ABSL_LOCKS_EXCLUDED(mu_);
  void Resumed() override ABSL_LOCKS_EXCLUDED(mu_);
  void ClientLeft() override;
  void EndSoon() override ABSL_LOCKS_EXCLUDED(mu_);
  void PartTaken(bool taken) override ABSL_LOCKS_EXCLUDED(mu_);
  void Over() override ABSL_LOCKS_EXCLUDED(mu_);

  // Thread-safe.
  void Answered(GrpcStreamRequest* request, GrpcAnswer response, GrpcAnswer final_response) override
      ABSL_LOCKS_EXCLUDED(mu_);
  void AnsweredInPart(GrpcStreamRequest* request, GrpcAnswer response) override
      ABSL_LOCKS_EXCLUDED(mu_);
  void Resume(GrpcStreamRequest* request) override ABSL_LOCKS_EXCLUDED(mu_);
  void Freed(size_t bytes) override;

 private:
  ~GrpcStreamTask() = default;

  struct Outgoing {
    GrpcAnswer message;
    GrpcStreamRequest* part_of = nullptr;  // its next answer is asked for after the write
    OpenCalls::Place place;                // the answered request's, like the next
    int64_t deadline_ns = 0;
  };

  void ReadOn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_) ABSL_LOCKS_EXCLUDED(mu_);
  bool MayRead() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_) ABSL_LOCKS_EXCLUDED(mu_);
  void ReadAll() ABSL_LOCKS_EXCLUDED(mu_);
  void TakeMessage(GrpcPiece message) ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_)
      ABSL_LOCKS_EXCLUDED(mu_);
  void Inflated(GrpcStreamRequest* request) ABSL_LOCKS_EXCLUDED(mu_);
  GrpcStreamRequest* TakeRequest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_) ABSL_LOCKS_EXCLUDED(mu_);
  void ClearAnswered() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_) ABSL_LOCKS_EXCLUDED(mu_);
  void Begin(GrpcStreamRequest* request, absl::Status arrived)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_) ABSL_LOCKS_EXCLUDED(mu_);
  void End(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_)
      ABSL_LOCKS_EXCLUDED(mu_);
  void ContinueWritten() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_) ABSL_LOCKS_EXCLUDED(mu_);
  void Release(GrpcStreamRequest* first) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void PutOut(Outgoing outgoing) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsFull() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ReadOnIfRoom() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  HttpReply TakePart() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void FinishIfOver() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status Ending() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const DoorContext* const context_;
  const ThreadRole* const thread_;
  HttpCall* const call_;
  const GrpcKind kind_;
  const TraceContext trace_;
  const int64_t end_ns_;
  const OpenCalls::Place place_;
  Grant grant_ ABSL_GUARDED_BY(thread_);  // for all requests
  const GrpcStreamSource source_;

  GrpcMessages messages_ ABSL_GUARDED_BY(thread_);
  std::vector<std::unique_ptr<GrpcStreamRequest>> requests_ ABSL_GUARDED_BY(thread_);
  std::vector<GrpcStreamRequest*> free_requests_ ABSL_GUARDED_BY(thread_);
  std::vector<GrpcStreamRequest*> clearing_ ABSL_GUARDED_BY(thread_);    // scratch
  std::vector<GrpcStreamRequest*> continuing_ ABSL_GUARDED_BY(thread_);  // scratch
  GrpcStreamRequest* inflating_ ABSL_GUARDED_BY(thread_) = nullptr;
  uint64_t held_bytes_ ABSL_GUARDED_BY(thread_) = 0;  // the requests' messages
  bool body_ended_ ABSL_GUARDED_BY(thread_) = false;
  bool left_ ABSL_GUARDED_BY(thread_) = false;   // the client, or its time is up
  bool ended_ ABSL_GUARDED_BY(thread_) = false;  // no request begins

  absl::Mutex mu_;
  AnswerLines<GrpcStreamRequest> lines_ ABSL_GUARDED_BY(mu_);
  std::vector<GrpcStreamRequest*> answered_ ABSL_GUARDED_BY(mu_);  // not cleared yet
  std::deque<Outgoing> outbox_ ABSL_GUARDED_BY(mu_);
  std::vector<Outgoing> writing_ ABSL_GUARDED_BY(mu_);  // the part that is out
  std::vector<GrpcStreamRequest*> written_parts_
      ABSL_GUARDED_BY(mu_);                                      // their next answer is wanted
  std::deque<GrpcStreamRequest*> resumed_ ABSL_GUARDED_BY(mu_);  // null: the reading goes on
  size_t unanswered_ ABSL_GUARDED_BY(mu_) = 0;
  bool waits_for_room_ ABSL_GUARDED_BY(mu_) = false;  // the reading waits
  bool has_parts_ ABSL_GUARDED_BY(mu_) = false;
  bool read_all_ ABSL_GUARDED_BY(mu_) = false;  // the client has closed its side
  bool broken_ ABSL_GUARDED_BY(mu_) = false;    // nothing can be written any more
  bool ending_ ABSL_GUARDED_BY(mu_) = false;
  bool finishing_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status fault_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
