// SequenceTurn: one request of a sequence, as the model's pool sees it.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/compose/child_request.h"
#include "server/compose/sequences/sequence.h"
#include "server/compose/sequences/sequence_plan.h"
#include "server/request/infer_message.h"
#include "server/request/reply.h"
#include "server/request/request.h"

namespace mpsd {

// The turn is bound to the sequence's lane:
//
//   the client's inputs ──┐                          ┌──▶ the outputs that the client wants
//   controls, id ─────────┼──▶ rows ─▶ batch ─▶ … ───┤
//   the sequence's state ─┘                          └──▶ the sequence's state
//
// Owned by its queue until it ends, and by each thread inside. As thread-compatible as a
// ChildRequest.
class SequenceTurn final : public ChildRequest {
 public:
  SequenceTurn(ChildOwner* owner, const SequencePlan* plan, std::shared_ptr<Sequence> sequence,
               const Turn& turn)
      : ChildRequest(owner), plan_(plan), sequence_(std::move(sequence)), turn_(turn) {}

  // Called once, before Reserve().
  void Prepare();

  // `told` gets the answer without the state. INTERNAL if a state has the wrong size.
  absl::Status TakeState(const Answer& answer, Answer* told);

  const Turn& turn() const { return turn_; }
  Sequence* sequence() { return sequence_.get(); }

 private:
  void TakeInputs();
  void Supply(uint32_t input, absl::string_view bytes);
  void SupplyId();
  void WantStates();
  const AnswerOutput& OutputOf(const SequencePlan::State& state, const Answer& answer) const;

  const SequencePlan* const plan_;
  const std::shared_ptr<Sequence> sequence_;
  const Turn turn_;
  absl::InlinedVector<Payload, 4> payloads_;  // the front end's inputs; the client's are not set
  std::string id_;                            // in the model's form
};

}  // namespace mpsd
