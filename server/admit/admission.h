// Admission: decides whether a request enters its model's queue.
#pragma once

#include "absl/functional/function_ref.h"
#include "proto/base/clock.h"
#include "proto/base/task_threads.h"
#include "server/access/rate_table.h"
#include "server/admit/row_writer.h"
#include "server/request/infer_message.h"
#include "server/request/request.h"
#include "server/request/served_model.h"

namespace mpsd {

// Steps 3 to 6 of a request, on the thread that read the message; afterwards a RequestQueue has the
// request. Owned by the daemon. Never blocks. Thread-safe: has no state of its own.
//
//   the daemon serves → the model is found, and loaded → the deadline lies ahead → [EncodeTexts()]
//     → Validate() → RateTable::Take() → [AnswerCache::TryAnswer()] → ApplyPadding()
//     → RequestQueue::Reserve() → RowWriter::Fill() → RowQueue::Commit()
//
// The first step that fails ends the request: its status is the client's answer. Before Reserve()
// no pool is touched, so a flood of bad requests costs the models nothing. From Reserve() on the
// queue owes the reply. If Reserve() found no room yet, the queue has the payload copied later, and
// commits the request itself.
//
//   the server starts or exits, the model is not loaded   UNAVAILABLE
//   there is no such model                                NOT_FOUND
//   its version is no number                              INVALID_ARGUMENT
//   a unary call of a decoupled model                     UNIMPLEMENTED
//   the deadline has passed                               DEADLINE_EXCEEDED
//   EncodeTexts(): the model's tokenizer cannot be used   UNAVAILABLE
//   the texts have too many bytes or tokens               INVALID_ARGUMENT
//   EncodeTexts(), Validate(), ApplyPadding()             INVALID_ARGUMENT
//   RateTable::Take(): the tenant has asked for too much  RESOURCE_EXHAUSTED, with a time to return
//   Reserve(): the queue or its memory is full            RESOURCE_EXHAUSTED, with a time to return
//   Reserve(): no worker will serve before the deadline   UNAVAILABLE
//
// A model may be replaced between the look-up and Reserve(). The closed queue then answers ABORTED,
// and the look-up is repeated; after three the client gets UNAVAILABLE.
//
// Texts of more than kInlineTextBytes together would delay the thread's other calls. Handle() then
// returns kAwaitsTexts, and TaskThreads encode them. If another generation has taken over
// meanwhile, they are encoded again.
//
// A small request waits before Reserve() in the bunch of its thread; EnterAll() takes the last
// three steps for all of them.
//
// AdmitArriving() takes the same steps up to Fill() before the last payload is whole. It refuses
// nobody: a request that cannot be admitted so (CheckArriving()) is handled when it is whole.
class Admission final : public InferHandler {
 public:
  // For one request: limits.text_bytes and limits.text_tokens.
  struct TextBounds {
    uint64_t bytes = 0;
    uint64_t tokens = 0;  // for all requests of a call, if a TextWishes says so
  };

  // The referents outlive the admission, and it outlives its requests: they point to its RowWriter.
  Admission(const ModelDirectory* models, const Clock* clock, TaskThreads* texts, RateTable* rates,
            const TextBounds& bounds)
      : models_(models), clock_(clock), texts_(texts), rates_(rates), bounds_(bounds) {}

  Handled Handle(const InferMessage& message, Request* request) override;
  bool AdmitArriving(const InferMessage& message, Request* request) override;
  void EnterAll(RequestBunch* bunch) override;
  void EncodeTexts(const InferMessage& message, Request* request, TextWaiter* waiter) override;

 private:
  // Both set `*handled` if it is not kCopied.
  absl::Status Admit(const InferMessage& message, Request* request, Handled* handled);
  absl::Status Enter(const InferMessage& message, ServedModel* model, Request* request,
                     Handled* handled);
  void Join(const InferMessage& message, RowQueue* queue, Request* request);
  void EnterTogether(RequestBunch* bunch);
  // REQUIRES: the requests have one queue.
  void EnterQueue(absl::Span<EnteringRequest> requests);
  void EnterAgain(const EnteringRequest& entering);
  // INVALID_ARGUMENT if the call has too many tokens, with `count` of this request.
  absl::Status CountTokens(const InferMessage& message, const Request& request,
                           uint64_t count) const;
  // RESOURCE_EXHAUSTED if the tenant has used up its rows. Steps, and a request that another
  // generation takes, were counted before.
  absl::Status CountRows(int64_t now_ns, Request* request) const;
  absl::Status Encode(const InferMessage& message, Request* request,
                      absl::FunctionRef<absl::Status()> go_on) const;

  const ModelDirectory* const models_;
  const Clock* const clock_;
  TaskThreads* const texts_;
  RateTable* const rates_;
  const TextBounds bounds_;
  const RowWriter writer_;
};

}  // namespace mpsd
