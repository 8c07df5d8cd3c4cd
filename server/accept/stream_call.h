// StreamCall: one ModelStreamInfer call: any number of requests, each with its answer.
#pragma once

#include <grpcpp/grpcpp.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/accept/answer_lines.h"
#include "server/accept/infer_call_context.h"
#include "server/accept/inflation.h"
#include "server/accept/open_streams.h"
#include "server/accept/queue_tag.h"
#include "server/accept/stream_slot.h"

namespace mpsd {

// Lives on its queue's thread, but for Answered() and EndSoon(), which come from any; deletes
// itself when its last tag is back.
//
// The life of a call: Arrived(true) promises Done, and arms another call in this one's place.
// Requests are read one behind the other, as long as fewer than kMaxStreamRequests of them are
// inside; then the next is read when an answer was written. A Read of a compressed one is followed
// by Inflated, before which nothing else is read. Their answers leave in the order of
// their requests to one model, one write at a time; but a request of a decoupled model waits for
// nobody: its answers leave as they come, each asked for when the one before was written. A client
// that cancels ends what is inside; one that closes its side gets all its answers. Finish is called
// once: when nothing is read any more, nothing is inside and nothing is left to be written.
class StreamCall final : public OpenStream {
 public:
  explicit StreamCall(const InferCallContext* context);
  ~StreamCall() override;

  void Arm();
  void EndSoon() override ABSL_LOCKS_EXCLUDED(mu_);

  // The slot's answer, as it goes over the wire, and what is to follow it; either may be nothing.
  // Called by the slot, once a request.
  void Answered(StreamSlot* slot, grpc::ByteBuffer response, grpc::ByteBuffer final_response)
      ABSL_LOCKS_EXCLUDED(mu_);

  // One of the slot's answers; Answered() is still to come. When this returns the slot's request
  // may have ended.
  void AnsweredInPart(StreamSlot* slot, grpc::ByteBuffer response) ABSL_LOCKS_EXCLUDED(mu_);

  // The inputs of the slot's request were copied from devices' memory, or could not be.
  void Loaded(StreamSlot* slot);

  const InferCallContext& context() const { return *context_; }
  std::string peer() const { return rpc_.server.peer(); }
  const TraceContext& trace() const { return trace_; }

 private:
  void Arrived(bool ok);
  void Read(bool ok);
  void Inflated(bool ok);
  void Written(bool ok);
  void Finished(bool ok);
  void Done(bool ok);

  void ClearAnswered() ABSL_LOCKS_EXCLUDED(mu_);
  StreamSlot* TakeSlot() ABSL_LOCKS_EXCLUDED(mu_);
  void Refuse(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mu_);
  void Take(bool ok, const absl::Status& arrived) ABSL_LOCKS_EXCLUDED(mu_);
  bool CountIn() ABSL_LOCKS_EXCLUDED(mu_);
  void Serve(StreamSlot* slot, const absl::Status& arrived);
  absl::Status LoadRegions(StreamSlot* slot);
  void Admit(StreamSlot* slot, const absl::Status& status);
  void Release(StreamSlot* first) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void DropOutbox() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ContinueWritten() ABSL_LOCKS_EXCLUDED(mu_);
  void ReadNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void FinishIfOver() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void DeleteIfOver();

  struct Rpc {
    Rpc() : stream(&server) {}

    grpc::ServerContext server;
    grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer> stream;
    grpc::ByteBuffer bytes;
  };

  // A message to be written.
  struct Outgoing {
    grpc::ByteBuffer bytes;
    StreamSlot* part_of = nullptr;  // whose request goes on when it is written
  };

  const InferCallContext* const context_;
  MemberTag<StreamCall, &StreamCall::Arrived> arrived_{this};
  MemberTag<StreamCall, &StreamCall::Read> read_{this};
  MemberTag<StreamCall, &StreamCall::Inflated> inflated_{this};
  MemberTag<StreamCall, &StreamCall::Written> written_{this};
  MemberTag<StreamCall, &StreamCall::Finished> finished_{this};
  MemberTag<StreamCall, &StreamCall::Done> done_{this};

  Rpc rpc_;

  // Owned by the queue's thread.
  std::vector<std::unique_ptr<StreamSlot>> slots_;
  std::vector<StreamSlot*> free_slots_;
  std::vector<StreamSlot*> clearing_;    // scratch
  std::vector<StreamSlot*> continuing_;  // scratch
  TraceContext trace_;                   // constant once a request was read
  bool is_done_ = false;
  bool is_finished_ = false;
  Grant grant_;  // of the gate, for all requests of the stream
  Inflation inflation_;

  absl::Mutex mu_;
  AnswerLines<StreamSlot> lines_ ABSL_GUARDED_BY(mu_);
  std::vector<StreamSlot*> answered_slots_ ABSL_GUARDED_BY(mu_);  // to be cleared
  std::deque<Outgoing> outbox_ ABSL_GUARDED_BY(mu_);
  StreamSlot* writing_part_of_ ABSL_GUARDED_BY(mu_) = nullptr;
  std::vector<StreamSlot*> written_slots_ ABSL_GUARDED_BY(mu_);  // whose requests may go on
  size_t unanswered_ ABSL_GUARDED_BY(mu_) = 0;
  bool reading_ ABSL_GUARDED_BY(mu_) = false;  // Read is out, or Inflated
  bool writing_ ABSL_GUARDED_BY(mu_) = false;  // Written is out
  bool has_written_ ABSL_GUARDED_BY(mu_) = false;
  bool read_all_ ABSL_GUARDED_BY(mu_) = false;   // the client has closed its side
  bool broken_ ABSL_GUARDED_BY(mu_) = false;     // nothing can be written any more
  bool ending_ ABSL_GUARDED_BY(mu_) = false;     // the server stops
  bool finishing_ ABSL_GUARDED_BY(mu_) = false;  // Finish was called
};

}  // namespace mpsd
