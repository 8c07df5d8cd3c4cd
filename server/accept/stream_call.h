// StreamCall: one ModelStreamInfer call: any number of requests, each with its answers.
#pragma once

#include <grpcpp/grpcpp.h>

#include <deque>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/thread_role.h"
#include "server/accept/infer_call_context.h"
#include "server/accept/inflation.h"
#include "server/accept/open_streams.h"
#include "server/accept/queue_tag.h"
#include "server/accept/stream_request.h"
#include "server/exchange/answer_lines.h"
#include "server/listen/connection_call.h"
#include "server/wire/trace_context.h"

namespace mpsd {

// Reads one stream's requests, each a StreamRequest, and writes their answers. Lives on its queue's
// thread, except Answered(), AnsweredInPart(), EndSoon() and CutIfUntaken(), which come from any
// thread. Owns itself: the last tag deletes it.
//
// Invariants:
//   1. Arrived(true) promises Done, and arms another call in place of this one. Arrived(false)
//      means that the server shuts down, and promises no further tag.
//   2. At most one Read or Inflated is out. The next request is read only while fewer than
//      kMaxStreamRequests requests wait for their answer or for its writing.
//   3. At most one Written is out. The answers of one model leave in the order of their requests.
//      Several answers to one request leave as they come, and each is asked for when the one before
//      it was written.
//   4. Finish is called once: when nothing more is read, no request waits for its answer, and
//      nothing is left to write. A client that closes its side gets all its answers. A client that
//      cancels ends its requests.
//   5. The call is deleted when Done and Finished are back and no Read is out.
//   6. A message not written kUntakenAnswerNs after its request's deadline, or after its turn came
//      if that is later, ends the call with DEADLINE_EXCEEDED.
class StreamCall final : public OpenStream, public StreamAnswers {
 public:
  // The context outlives the call.
  explicit StreamCall(const InferCallContext* context);

  // Waits for a call to arrive. Called once.
  void Arm();

  // From any thread.
  void EndSoon() override ABSL_LOCKS_EXCLUDED(mu_);
  void CutIfUntaken(int64_t now_ns) override ABSL_LOCKS_EXCLUDED(mu_);
  void Answered(StreamRequest* request, grpc::ByteBuffer response,
                grpc::ByteBuffer final_response) override ABSL_LOCKS_EXCLUDED(mu_);
  void AnsweredInPart(StreamRequest* request, grpc::ByteBuffer response) override
      ABSL_LOCKS_EXCLUDED(mu_);

 private:
  ~StreamCall() override;

  // The tags.
  void Arrived(bool ok);
  void Read(bool ok);
  void Inflated(bool ok);
  void Written(bool ok);
  void Finished(bool ok);
  void Done(bool ok);

  void Refuse(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mu_);
  void Take(bool ok, const absl::Status& arrived) ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_)
      ABSL_LOCKS_EXCLUDED(mu_);
  bool CountIn() ABSL_LOCKS_EXCLUDED(mu_);
  StreamRequest* TakeRequest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_) ABSL_LOCKS_EXCLUDED(mu_);
  void ClearAnswered() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_) ABSL_LOCKS_EXCLUDED(mu_);
  void Serve(StreamRequest* request, const absl::Status& arrived)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_) ABSL_LOCKS_EXCLUDED(mu_);
  void Cancel() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_) ABSL_LOCKS_EXCLUDED(mu_);
  void ContinueWritten() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_) ABSL_LOCKS_EXCLUDED(mu_);
  void DeleteIfOver() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread_) ABSL_LOCKS_EXCLUDED(mu_);
  void Release(StreamRequest* first) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void DropOutbox() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ReadNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void FinishIfOver() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  struct Rpc {
    Rpc() : stream(&server) {}

    grpc::ServerContext server;
    grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer> stream;
    grpc::ByteBuffer bytes;
  };

  struct Outgoing {
    grpc::ByteBuffer bytes;
    StreamRequest* part_of = nullptr;  // its next answer is asked for after the write
    OpenCalls::Place place;            // the answered request's
    int64_t deadline_ns = 0;           // that request's
  };

  const InferCallContext* const context_;
  const ThreadRole* const thread_;
  MemberTag<StreamCall, &StreamCall::Arrived> arrived_{this};
  MemberTag<StreamCall, &StreamCall::Read> read_{this};
  MemberTag<StreamCall, &StreamCall::Inflated> inflated_{this};
  MemberTag<StreamCall, &StreamCall::Written> written_{this};
  MemberTag<StreamCall, &StreamCall::Finished> finished_{this};
  MemberTag<StreamCall, &StreamCall::Done> done_{this};

  Rpc rpc_;
  TraceContext trace_;  // constant once the call has arrived

  std::vector<std::unique_ptr<StreamRequest>> requests_ ABSL_GUARDED_BY(thread_);
  std::vector<StreamRequest*> free_requests_ ABSL_GUARDED_BY(thread_);
  std::vector<StreamRequest*> clearing_ ABSL_GUARDED_BY(thread_);    // scratch
  std::vector<StreamRequest*> continuing_ ABSL_GUARDED_BY(thread_);  // scratch
  bool is_done_ ABSL_GUARDED_BY(thread_) = false;
  bool is_finished_ ABSL_GUARDED_BY(thread_) = false;
  ConnectionCall connection_ ABSL_GUARDED_BY(thread_);
  OpenCalls::Place place_ ABSL_GUARDED_BY(thread_);
  Grant grant_ ABSL_GUARDED_BY(thread_);  // from the gate, for all requests of the stream
  Inflation inflation_ ABSL_GUARDED_BY(thread_);

  absl::Mutex mu_;
  AnswerLines<StreamRequest> lines_ ABSL_GUARDED_BY(mu_);
  std::vector<StreamRequest*> answered_ ABSL_GUARDED_BY(mu_);  // not cleared yet
  std::deque<Outgoing> outbox_ ABSL_GUARDED_BY(mu_);
  StreamRequest* writing_part_of_ ABSL_GUARDED_BY(mu_) = nullptr;
  OpenCalls::Place writing_place_ ABSL_GUARDED_BY(mu_);             // for the message being written
  std::vector<StreamRequest*> written_parts_ ABSL_GUARDED_BY(mu_);  // whose next answer is wanted
  int64_t cut_at_ns_ ABSL_GUARDED_BY(mu_) = 0;  // when the message being written must be taken
  size_t unanswered_ ABSL_GUARDED_BY(mu_) = 0;
  bool reading_ ABSL_GUARDED_BY(mu_) = false;  // Read or Inflated is out
  bool writing_ ABSL_GUARDED_BY(mu_) = false;  // Written is out
  bool has_written_ ABSL_GUARDED_BY(mu_) = false;
  bool read_all_ ABSL_GUARDED_BY(mu_) = false;   // the client has closed its side
  bool broken_ ABSL_GUARDED_BY(mu_) = false;     // nothing can be written any more
  bool ending_ ABSL_GUARDED_BY(mu_) = false;     // the server stops
  bool finishing_ ABSL_GUARDED_BY(mu_) = false;  // Finish was called
};

}  // namespace mpsd
