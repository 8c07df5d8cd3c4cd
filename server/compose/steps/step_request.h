// StepRequest: one step of a request, as a request of its own in its model's queue.
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

// Hands its request to the InferHandler, as an exchange does, and counts and traces its ending. It
// has no call, no place among the open calls and no line in the request log: the whole request has
// them. It has a span if the whole has one, written before the run is told.
//
//   Begin ─▶ InferHandler ─▶ the member's queue ─▶ ChildAnswered, or ChildFailed
//
// Owned by a StepRun; begins once. Begin() is called by a thread that holds the run; the ending may
// come on any thread, even before Begin() returns. Thread-safe.
class StepRequest final : public ChildRequest, private TextWaiter {
 public:
  // The referents outlive it.
  StepRequest(const StepContext* context, StepRun* run, uint32_t step);

  // Filled in before Begin(). The message's payloads outlive Begin() until InputsRead(). It names
  // the outputs that the run takes.
  InferMessage* message() { return &message_; }

  // Admits the request or ends it.
  void Begin();

  // ReplySink.
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
  InferMessage message_;  // written by the thread that begins
  std::atomic<bool> let_go_{false};
};

}  // namespace mpsd
