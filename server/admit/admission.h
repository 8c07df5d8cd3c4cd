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

// Steps 3 to 6 of a request's life, on the thread that read the message. An exchange hands the
// message over; afterwards a RequestQueue has the request.
//
//   the daemon serves → the model is found, and loaded → the deadline lies ahead → [EncodeTexts()]
//     → Validate() → RateTable::Take() → [AnswerCache::TryAnswer()] → ApplyPadding()
//     → RequestQueue::Reserve() → RowWriter::Fill() → RowQueue::Commit()
//
// A request with texts is first encoded with the tokenizer of the generation that was found, and
// then has tokens. A request that gets a kept answer ends there: no pool is touched.
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
// and the look-up is repeated; after three the client gets UNAVAILABLE. A message's parameter
// "timeout" may shorten the deadline, never extend it. The policy of its priority level says how
// far it counts, and how long the request may wait.
//
// Texts of more than kInlineTextBytes together would delay the thread's other calls. Handle() then
// returns kAwaitsTexts, with request->model set to the generation whose tokenizer is needed, and
// TaskThreads encode them. If another generation has taken over meanwhile, they are encoded again.
//
// A small request waits before Reserve() in the bunch of its thread, if it has one. EnterAll()
// takes the last three steps for all of them together.
//
// AdmitArriving() takes the same steps before the last payload is whole, up to Fill(), which copies
// what is there. It refuses nobody: a request that cannot be admitted so is handled when it is
// whole. These are: requests of models that keep answers, cut requests, or sequences; requests with
// texts; payloads that need padding; and those for which there is no room.
//
// Knows no transport and no worker. Owned by the daemon. Never blocks. Thread-safe: has no state of
// its own, and any number of door threads are inside at a time.
class Admission final : public InferHandler {
 public:
  // Limits of one request's texts: limits.text_bytes and limits.text_tokens.
  struct TextBounds {
    uint64_t bytes = 0;
    uint64_t tokens = 0;  // for all requests of a call, if a TextWishes says so
  };

  // The referents outlive the admission, and it outlives the requests that it admitted: they point
  // to its RowWriter.
  Admission(const ModelDirectory* models, const Clock* clock, TaskThreads* texts, RateTable* rates,
            const TextBounds& bounds)
      : models_(models), clock_(clock), texts_(texts), rates_(rates), bounds_(bounds) {}

  Handled Handle(const InferMessage& message, Request* request) override;
  bool AdmitArriving(const InferMessage& message, Request* request) override;
  void EnterAll(RequestBunch* bunch) override;
  void EncodeTexts(const InferMessage& message, Request* request, TextWaiter* waiter) override;

 private:
  // Both set `*handled` if it is not kCopied. Admit() finds the generation; Enter() checks the
  // message against it and brings the request into its queue.
  absl::Status Admit(const InferMessage& message, Request* request, Handled* handled) const;
  absl::Status Enter(const InferMessage& message, ServedModel* model, Request* request,
                     Handled* handled) const;
  Handled HandleNow(const InferMessage& message, Request* request) const;
  void Join(const InferMessage& message, RowQueue* queue, Request* request) const;
  void EnterTogether(RequestBunch* bunch) const;
  // The requests have one queue.
  void EnterQueue(absl::Span<EnteringRequest> requests) const;
  void EnterAgain(const EnteringRequest& entering) const;
  // INVALID_ARGUMENT if the call has too many tokens, with `count` of this request, whose texts may
  // have been encoded before.
  absl::Status CountTokens(const InferMessage& message, const Request& request,
                           uint64_t count) const;
  // RESOURCE_EXHAUSTED if the tenant has used up its rows. Steps of a request, and a request that
  // another generation takes, were counted before.
  absl::Status CountRows(int64_t now_ns, Request* request) const;
  // Encodes a request's texts with its model's tokenizer.
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
