// StepRequest: one step of a request, as a request in a member's queue.
#pragma once

#include <atomic>
#include <cstdint>

#include "absl/status/status.h"
#include "server/compose/child_request.h"
#include "server/compose/steps/step_context.h"
#include "server/request/infer_message.h"
#include "server/request/reply.h"

namespace mpsd {

class StepRun;

// The whole request has the call and the line in the request log. A step has a span if the whole
// has one, written before the run is told.
//
//   Begin ─▶ InferHandler ─▶ the member's queue ─▶ ChildAnswered, or ChildFailed
//
// Owned by a StepRun, which the caller of Begin() holds. Thread-safe.
class StepRequest final : public ChildRequest, private TextWaiter {
 public:
  StepRequest(const StepContext* context, StepRun* run, uint32_t step);

  // Filled in before Begin(). The payloads outlive Begin() until InputsRead().
  InferMessage* message() { return &message_; }

  // Called once.
  void Begin();

  void Send(const Answer& answer) override;
  void Fail(const absl::Status& status) override;

 private:
  // TextWaiter, on a thread of TaskThreads.
  absl::Status GoOn() const override;
  void TextsDone(const absl::Status& status) override;

  void Handle();
  void LetGo();
  void Count(absl::StatusCode code);
  void Tell(absl::StatusCode code) const;

  const StepContext* const context_;
  StepRun* const run_;
  InferMessage message_;  // the beginning thread writes it
  std::atomic<bool> let_go_{false};
};

}  // namespace mpsd
