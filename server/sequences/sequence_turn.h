// SequenceTurn: one request of a sequence, as the model's pool sees it.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/request/infer_message.h"
#include "server/request/reply.h"
#include "server/request/request.h"
#include "server/sequences/sequence.h"
#include "server/sequences/sequence_plan.h"

namespace mpsd {

class SequenceTurn;

// Reports from a turn to its queue. Thread-safe.
class TurnOwner {
 public:
  // The turn ends by one of these, unless Reserve() failed. The answer is valid until
  // TurnAnswered() returns.
  virtual void TurnAnswered(SequenceTurn* turn, const Answer& answer) = 0;
  virtual void TurnFailed(SequenceTurn* turn, const absl::Status& status) = 0;

 protected:
  ~TurnOwner() = default;
};

// Stands for the client's request in the pool, with the inputs that the client does not send, and
// bound to the sequence's lane:
//
//   the client's inputs ──┐                          ┌──▶ the outputs that the client wants
//   controls, id ─────────┼──▶ rows ─▶ batch ─▶ … ───┤
//   the sequence's state ─┘                          └──▶ the sequence's state
//
// Owned by its queue until it ends, and by each thread inside. One thread calls Reserve() and
// Fill(); Cancel() and the ending may come on any. Thread-compatible except for Cancel().
class SequenceTurn final : public ReplySink {
 public:
  // The plan and the owner outlive it.
  SequenceTurn(TurnOwner* owner, const SequencePlan* plan, std::shared_ptr<Sequence> sequence,
               const Turn& turn);

  // Reserves the rows in the pool. After an error the turn is in no pool, and its owner is not
  // told. Called once.
  absl::Status Reserve(RequestQueue* pool);

  // Fills the rows and commits them, unless the pool does. The turn may have ended when this
  // returns. REQUIRES: Reserve() was OK, and the caller holds the turn. Called once.
  void Fill(RequestQueue* pool);

  // Nobody waits for the answer. REQUIRES: the caller holds the turn. Thread-safe.
  void Cancel(RequestQueue* pool);

  // Takes the state out of the answer; `told` gets the rest. INTERNAL if a state has the wrong
  // size. Called by the owner, which then ends the client's request.
  absl::Status TakeState(const Answer& answer, Answer* told);

  const Turn& turn() const { return turn_; }
  Sequence* sequence() { return sequence_.get(); }
  const Request& request() const { return request_; }

  // ReplySink.
  void Send(const Answer& answer) override { owner_->TurnAnswered(this, answer); }
  void Fail(const absl::Status& status) override;

 private:
  void TakeInputs();
  void Supply(uint32_t input, absl::string_view bytes);
  void SupplyId();
  void WantStates();
  const AnswerOutput& OutputOf(const SequencePlan::State& state, const Answer& answer) const;

  TurnOwner* const owner_;
  const SequencePlan* const plan_;
  const std::shared_ptr<Sequence> sequence_;
  const Turn turn_;
  absl::InlinedVector<Payload, 4> payloads_;  // inputs of the front end; the client's are not set
  std::string id_;                            // in the model's form
  Request request_;
  RowTargets targets_;
  bool is_refused_ = false;  // the pool refused it before it was inside
  std::atomic<bool> is_cancelled_{false};
};

}  // namespace mpsd
