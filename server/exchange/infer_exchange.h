// InferExchange: one inference request of a call, from its bytes to its one ending.
#pragma once

#include <atomic>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "proto/base/clock.h"
#include "proto/base/thread_role.h"
#include "server/bodies/grpc/reply_head.h"
#include "server/bodies/grpc/trace_context.h"
#include "server/exchange/exchange_transport.h"
#include "server/exchange/request_ending.h"
#include "server/regions/client_regions.h"
#include "server/regions/request_regions.h"
#include "server/request/infer_message.h"
#include "server/request/reply.h"
#include "server/request/request.h"
#include "server/telemetry/answer_statistics.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// The parts of the daemon that exchanges use; one for each thread that serves calls. Constant once
// calls arrive. The referents outlive the exchanges. Thread-safe.
struct ExchangeContext {
  InferHandler* handler = nullptr;
  ServerMetrics* metrics = nullptr;
  const Clock* clock = nullptr;
  ClientRegions* regions = nullptr;
  const ThreadRole* thread = nullptr;  // the thread that serves the calls
  RequestObservers observers;
  RequestBunch* bunch = nullptr;  // the thread's; null: each request enters alone
};

// When a request arrived and when it expires. `trace` is the caller's trace, valid until the
// exchange is cleared. `patience_ns` is the time limit per answer (0: until the request expires).
struct Arrival {
  int64_t arrival_ns = 0;
  int64_t deadline_ns = 0;
  const TraceContext* trace = nullptr;
  int64_t patience_ns = 0;
};

// Whether the request's model gives any number of answers (decision 0011). False while the request
// has no model yet. Thread-safe.
bool IsDecoupled(const Request& request);

// Counts one request's answers for ModelMetrics::answers, and how much of its time in batches the
// earlier ones took. An ordinary model's request has one answer, counted by its ending and not
// here.
//
//   begun ── Add(kSent) ── Add(kSent) ── Add(kNoMore), or kFailed, or kCancelled ── Clear
//            index 0       index 1       index 2
//
// Thread-compatible. Owned by an InferExchange and reused. Answers of one request come from any
// thread but never overlap, so no two threads count at a time.
class AnswerCounter {
 public:
  // Counts the answer that is about to be sent, or the ending in its place. It is charged the
  // request's time in batches since the last answer. Does nothing if the request was not admitted,
  // or its model is not decoupled.
  void Add(const Request& request, AnswerOutcome outcome);

  void Clear();

 private:
  StageSums counted_;  // the request's sums at the last counted answer
  uint32_t sent_ = 0;  // index of the next answer
};

// The steps of a request that are the same for every transport: read, ask the gate about the model,
// copy inputs out of registered memory, admit. Then give each answer its form, and count and tell
// the ending. Owned by its call, which does only the transport's part, and reused for request after
// request. Depends on no particular transport, model or worker.
//
//   Begin → Read → Admit → (Resumed)* → SendPart, any number of times → one ending → Clear
//           or AdmitBeginning → RestIsThere
//
// Lives on its call's thread, which calls Begin(), CheckAwaited(), Read(), Admit(), Resumed(),
// ClientLeft() and Clear(); the exchange CHECKs that. Any thread may call Continue(), StopAnswers()
// and the ReplySink's functions. Answers come one at a time, through the Reply that the exchange
// has lent to its Request. No function blocks: device copies run in tasks of the DeviceCopier, and
// long texts are encoded on a thread of the handler's.
//
// Invariants:
//   1. Each request that began ends exactly once: one of the transport's SendLast(), SendNoMore()
//      and SendError() is called, once.
//   2. The metrics and the observers get the ending before the transport sends it.
//   3. After these calls the exchange touches none of its members: the transport's endings and
//      SendPart(), DeviceCopier::Enqueue(), InferHandler::EncodeTexts(). By then the request may
//      have ended on another thread, and the exchange may serve the next one.
//   4. The payloads' memory is freed when InferHandler::Handle() says that nobody reads them any
//      more, or else in Clear().
class InferExchange final : public ReplySink, private TextWaiter {
 public:
  // How many answers a request may have: unary calls have room for one.
  enum class Answers { kOne, kMany };

  // The referents outlive the exchange.
  InferExchange(const ExchangeContext* context, ExchangeTransport* transport, Answers answers);
  ~InferExchange() override;

  // A request has arrived and now needs an ending. REQUIRES: the exchange is new or cleared.
  void Begin(const Arrival& arrival);

  // OK; or DEADLINE_EXCEEDED or CANCELLED if nobody awaits the request any more. The caller passes
  // an error to Admit().
  absl::Status CheckAwaited(int64_t now_ns) const;

  // Has the transport read the request, asks it whether the caller may use the model, and copies
  // the inputs in the client's memory, except device inputs. The caller passes the status to
  // Admit(), also an error.
  absl::Status Read();

  // In place of Read() and Admit(), while the request is arriving: admits it if the transport can
  // read its beginning. Returns where the rest goes; nothing if the request must be whole first,
  // and then has not begun to be admitted. After this the caller does not end the request: it calls
  // RestIsThere(), once.
  absl::Span<char> AdmitBeginning(const RequestBeginning& beginning);

  // The rest was written, or will not come: then the request ends with `status`. The request may
  // have ended when this returns. REQUIRES: is_arriving().
  void RestIsThere(const absl::Status& status);
  bool is_arriving() const { return is_arriving_; }

  // Hands the request to the InferHandler, or ends it with `status`. If it has device inputs,
  // starts their copy and returns. The copier's thread then calls the transport's Resume(), and the
  // transport has its call's thread call Resumed(). The same happens if another thread tokenizes
  // long texts. The request may have ended when this returns.
  void Admit(const absl::Status& status);

  // Continues admission after device inputs were copied or long texts encoded, or that failed.
  void Resumed();

  // Nobody awaits the request any more: it is cancelled, now or at its next step. Does nothing if
  // the request has ended.
  void ClientLeft();

  // Prepares the exchange for the next request. REQUIRES: the request has ended.
  void Clear();

  // After each SendPart() the transport calls exactly one of these, from any thread: Continue()
  // once the answer was sent and the next is wanted, StopAnswers() if nothing more can be sent.
  // When either returns the request may have ended.
  void Continue();
  void StopAnswers();

  // ReplySink: from any thread.
  void Send(const Answer& answer) override { Give(answer, /*is_last=*/true); }
  void SendPart(const Answer& answer) override { Give(answer, /*is_last=*/false); }
  void End() override;
  void Fail(const absl::Status& status) override;

  // message() is constant from Read() until Clear(), request() from admission until Clear().
  const InferMessage& message() const { return message_; }
  const Request& request() const { return request_; }

  // The beginning of an answer to the request. REQUIRES: the request was admitted.
  ReplyHead HeadOf(bool is_last) const;

 private:
  enum class Stage : uint8_t {
    kIdle,   // → kBegun
    kBegun,  // needs an ending   → kEnded
    kEnded,  // → kIdle
  };

  void BeginSpan();
  void NoteTenant();
  void DropPayloads();
  absl::Status LoadRegions();
  absl::Status LoadFromDevice();
  // TextWaiter: on a thread of TaskThreads.
  absl::Status GoOn() const override;
  void TextsDone(const absl::Status& status) override;
  void Handle(const absl::Status& status);

  void Give(const Answer& answer, bool is_last);
  void GiveInForm(Answer answer, bool is_last);
  void WriteAndSend(const Answer& answer, bool is_last);
  void SendWhenStored(bool is_last);
  void SendWritten(bool is_last);
  void NoteRead();
  void Refuse(const absl::Status& status, bool is_last);
  void CountAndTell(absl::StatusCode code);

  // Constant.
  const ExchangeContext* const context_;
  ExchangeTransport* const transport_;
  const ThreadRole* const thread_;
  const Answers answers_;

  std::atomic<bool> client_left_{false};  // written on the call's thread; GoOn() reads it elsewhere

  // Written by the call's thread until the request is admitted. Then the request's queue decides
  // who may write. Answers, which never overlap, write the rest.
  Stage stage_ = Stage::kIdle;
  bool is_arriving_ = false;
  const TraceContext* trace_ = nullptr;
  InferMessage message_;
  TensorForms forms_;
  Request request_;
  RequestRegions regions_;
  absl::Status resumed_status_;  // result of copying device inputs, or of encoding texts
  absl::Status refusal_;  // with which the request ends, if not OK: no further answer can be sent,
                          // or the rest of an arriving request does not come
  AnswerCounter counter_;

  std::atomic<uint32_t> readers_gone_{0};  // admission and the ending: then nobody reads the fields
};

}  // namespace mpsd
