// InferExchange: one inference request of a call, up to its one ending.
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

// For the exchanges of one thread. Constant once calls arrive. The referents outlive the
// exchanges. Thread-safe.
struct ExchangeContext {
  InferHandler* handler = nullptr;
  ServerMetrics* metrics = nullptr;
  const Clock* clock = nullptr;
  ClientRegions* regions = nullptr;
  const ThreadRole* thread = nullptr;
  RequestObservers observers;
  RequestBunch* bunch = nullptr;  // null: each request enters alone
};

// `trace` is the caller's, valid until the exchange is cleared. `patience_ns` is the limit per
// answer (0: until the deadline).
struct Arrival {
  int64_t arrival_ns = 0;
  int64_t deadline_ns = 0;
  const TraceContext* trace = nullptr;
  int64_t patience_ns = 0;
};

// Whether the model gives any number of answers (decision 0011). False while the request has no
// model. Thread-safe.
bool IsDecoupled(const Request& request);

// Counts a decoupled model's answers for ModelMetrics::answers, and the time in batches that each
// took. An ordinary model's answer is counted by its ending.
//
//   begun ── Add(kSent) ── Add(kSent) ── Add(kNoMore), or kFailed, or kCancelled ── Clear
//            index 0       index 1       index 2
//
// Owned by an InferExchange and reused. Thread-compatible: answers of one request never overlap.
class AnswerCounter {
 public:
  // Counts the answer that is about to be sent, or the ending in its place. Does nothing if the
  // request was not admitted, or its model is not decoupled.
  void Add(const Request& request, AnswerOutcome outcome);

  void Clear();

 private:
  StageSums counted_;  // the sums at the last counted answer
  uint32_t sent_ = 0;  // the next answer's index
};

// The steps of a request that all transports share. Owned by its call, which does the transport's
// part, and reused.
//
//   Begin → Read → Admit → (Resumed)* → SendPart, any number of times → one ending → Clear
//           or AdmitBeginning → RestIsThere
//
// Lives on its call's thread, except Continue(), StopAnswers() and the ReplySink's functions, which
// any thread may call. Answers come one at a time. No function blocks: device copies run in tasks
// of the DeviceCopier, and long texts are encoded on a thread of the handler's.
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
  // Unary calls have room for one.
  enum class Answers { kOne, kMany };

  // The referents outlive the exchange.
  InferExchange(const ExchangeContext* context, ExchangeTransport* transport, Answers answers);
  ~InferExchange() override;

  // From now on the request needs an ending. REQUIRES: the exchange is new or cleared.
  void Begin(const Arrival& arrival);

  // DEADLINE_EXCEEDED or CANCELLED if nobody awaits the request. The status goes to Admit().
  absl::Status CheckAwaited(int64_t now_ns) const;

  // Reads by the transport, asks for the model, and copies inputs from the client's memory, except
  // a device's. The status goes to Admit().
  absl::Status Read();

  // In place of Read() and Admit(), while the request arrives. Returns where the rest goes: from
  // then on the caller calls RestIsThere(), once, instead of ending the request. Nothing if the
  // request must be whole first.
  absl::Span<char> AdmitBeginning(const RequestBeginning& beginning);

  // The rest was written, or the request ends with `status`, perhaps before the return. REQUIRES:
  // is_arriving().
  void RestIsThere(const absl::Status& status);
  bool is_arriving() const { return is_arriving_; }

  // Hands the request to the InferHandler, or ends it with `status`. If device inputs or long texts
  // need another thread, that thread calls the transport's Resume(). The request may have ended on
  // return.
  void Admit(const absl::Status& status);

  // Goes on after another thread's copy or encoding, or its failure.
  void Resumed();

  // The request is cancelled, now or at its next step, unless it has ended.
  void ClientLeft();

  // REQUIRES: the request has ended.
  void Clear();

  // After each SendPart() the transport calls one of these: Continue() for the next answer,
  // StopAnswers() if nothing more can be sent. Thread-safe. The request may have ended on return.
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

  // REQUIRES: the request was admitted.
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

  const ExchangeContext* const context_;
  ExchangeTransport* const transport_;
  const ThreadRole* const thread_;
  const Answers answers_;

  std::atomic<bool> client_left_{false};  // GoOn() reads this on another thread

  // Written by the call's thread until the request is admitted. Then the request's queue decides
  // who may write; answers write the rest.
  Stage stage_ = Stage::kIdle;
  bool is_arriving_ = false;
  const TraceContext* trace_ = nullptr;
  InferMessage message_;
  TensorForms forms_;
  Request request_;
  RequestRegions regions_;
  absl::Status resumed_status_;  // result of copying device inputs, or of encoding texts
  // Unless OK, the request ends with it: no further answer can be sent, or the rest does not come.
  absl::Status refusal_;
  AnswerCounter counter_;

  // Admission and the ending. After both nobody reads the fields.
  std::atomic<uint32_t> readers_gone_{0};
};

}  // namespace mpsd
