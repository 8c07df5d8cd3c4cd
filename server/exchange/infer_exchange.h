// InferExchange: one inference request of a call, from its bytes to its one ending.
#pragma once

#include <atomic>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "proto/base/clock.h"
#include "proto/base/thread_role.h"
#include "server/exchange/answer_counter.h"
#include "server/exchange/exchange_transport.h"
#include "server/exchange/request_ending.h"
#include "server/regions/client_regions.h"
#include "server/regions/request_regions.h"
#include "server/request/infer_message.h"
#include "server/request/reply.h"
#include "server/request/request.h"
#include "server/telemetry/model_metrics.h"
#include "server/wire/trace_context.h"

namespace mpsd {

// The parts of the daemon that the exchanges of one thread use. Each thread that serves calls has
// one, in its calls' context. Constant once calls arrive. The referents outlive
// the exchanges. Thread-safe.
struct ExchangeContext {
  InferHandler* handler = nullptr;
  ServerMetrics* metrics = nullptr;
  const Clock* clock = nullptr;
  ClientRegions* regions = nullptr;
  const ThreadRole* thread = nullptr;  // the calls' thread
  RequestObservers observers;
};

// When a request arrived, when it expires, what the caller said of its trace, which lives until the
// exchange is cleared, and how long each of its answers may take (0: until it expires).
struct Arrival {
  int64_t arrival_ns = 0;
  int64_t deadline_ns = 0;
  const TraceContext* trace = nullptr;
  int64_t patience_ns = 0;
};

// The steps of a request that are the same for every transport: read, ask the gate about the model,
// copy inputs out of the client's registered memory, admit, give each answer the form that the
// client wants, and count and tell the ending. Owned by its call, which does only what its
// transport needs, and used again for request after request. Depends on no particular transport,
// model or worker.
//
//   Begin → Read → Admit → (Resumed)* → SendPart, any number of times → one ending → Clear
//
// Lives on its call's thread, which calls Begin(), CheckAwaited(), Read(), Admit(), Resumed(),
// ClientLeft() and Clear(); the exchange CHECKs that. Any thread may call Continue(), StopAnswers()
// and the ReplySink's functions: the thread that finds a completion, that cancels, or that copies
// to a device. Answers come through the Reply that the exchange has lent to its Request, one at a
// time. No function blocks: a copy from or to a device is a task of the DeviceCopier, which runs on
// the copier's thread, and long texts are encoded on a thread of the handler's.
//
// Invariants:
//   1. Each request that began ends exactly once: one of the transport's SendLast(), SendNoMore()
//      and SendError() is called, once.
//   2. The metrics and the observers get the ending before the transport sends it.
//   3. After these calls the exchange touches none of its members: an ending of the transport, the
//      transport's SendPart(), DeviceCopier::Enqueue(), InferHandler::EncodeTexts(). By then the
//      request may have ended on another thread, and the exchange may be in use for the next one.
//   4. The memory that the payloads lie in is freed when InferHandler::Handle() says that nobody
//      reads them any more; where it does not, in Clear().
class InferExchange final : public ReplySink, private TextWaiter {
 public:
  // How many answers a request may have: unary calls have room for one.
  enum class Answers { kOne, kMany };

  // The referents outlive the exchange.
  InferExchange(const ExchangeContext* context, ExchangeTransport* transport, Answers answers);
  ~InferExchange() override;

  // A request has arrived, and from now on owes an ending. REQUIRES: the exchange is new or
  // cleared.
  void Begin(const Arrival& arrival);

  // OK; or DEADLINE_EXCEEDED or CANCELLED for a request that nobody awaits any more. The caller
  // gives an error to Admit().
  absl::Status CheckAwaited(int64_t now_ns) const;

  // Tells the transport to read the request, asks it whether the caller may use the model, and
  // copies the inputs that lie in the client's memory, except those on devices. The caller gives
  // the status to Admit(), also when it is an error.
  absl::Status Read();

  // Hands the request to the InferHandler, or ends it with `status`. If inputs lie on devices, it
  // starts their copy and returns: when the copy is done the transport's Resume() is called, on the
  // copier's thread, and the transport has its call's thread call Resumed(). The same where texts
  // are long, whose tokens another thread makes. The request may have ended when this returns.
  void Admit(const absl::Status& status);

  // The inputs on devices were copied, or the long texts encoded, or could not be: admission goes
  // on.
  void Resumed();

  // Nobody awaits the request any more: it is cancelled, now or at its next step. Does nothing for
  // a request that has ended.
  void ClientLeft();

  // Makes the exchange fit for the next request. REQUIRES: the request has ended.
  void Clear();

  // After each SendPart() the transport calls exactly one of these, from any thread: Continue()
  // when the answer was sent and the next is wanted, StopAnswers() when nothing can be sent any
  // more. When either returns the request may have ended.
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

 private:
  enum class Stage : uint8_t {
    kIdle,   // → kBegun
    kBegun,  // owes an ending   → kEnded
    kEnded,  // → kIdle
  };

  absl::Status LoadRegions();
  absl::Status LoadFromDevice();
  // TextWaiter: on a thread of TextThreads.
  absl::Status GoOn() const override;
  void TextsDone(const absl::Status& status) override;
  void Handle(const absl::Status& status);

  void Give(const Answer& answer, bool is_last);
  void GiveInForm(Answer answer, bool is_last);
  void WriteAndSend(const Answer& answer, bool is_last);
  void SendWhenStored(bool is_last);
  void SendWritten(bool is_last);
  void Refuse(const absl::Status& status, bool is_last);
  void CountAndTell(absl::StatusCode code);

  // Constant.
  const ExchangeContext* const context_;
  ExchangeTransport* const transport_;
  const ThreadRole* const thread_;
  const Answers answers_;

  std::atomic<bool> client_left_{false};  // written on the call's thread; GoOn() reads it elsewhere

  // Written by the call's thread until the request is admitted. Then the request's queue says who
  // may write, and the answers, which never overlap, write the rest.
  Stage stage_ = Stage::kIdle;
  const TraceContext* trace_ = nullptr;
  InferMessage message_;
  TensorForms forms_;
  Request request_;
  RequestRegions regions_;
  absl::Status resumed_status_;  // of the copy of inputs from devices, or of the texts
  absl::Status refusal_;         // why an answer of several could not be sent; the request's ending
  AnswerCounter counter_;
};

}  // namespace mpsd
