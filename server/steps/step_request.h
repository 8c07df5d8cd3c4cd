// StepRequest: one step of a request, as a request of its own in its model's queue.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "server/request/infer_message.h"
#include "server/request/reply.h"
#include "server/request/request.h"
#include "server/steps/step_context.h"

namespace mpsd {

// Reports from a step to its run. Thread-safe.
class StepOwner {
 public:
  // Nobody reads the step's inputs any more. Called once.
  virtual void InputsRead(uint32_t step) = 0;

  // The step ends by one of these. The answer has each output that the step's message names, and is
  // valid until StepAnswered() returns. The run may be gone when either returns, unless the caller
  // holds it.
  virtual void StepAnswered(uint32_t step, const Answer& answer) = 0;
  virtual void StepFailed(uint32_t step, const absl::Status& status) = 0;

  // An error if nobody awaits the request any more.
  virtual absl::Status StillAwaited() = 0;

  // Keeps the run until the result is dropped.
  virtual std::shared_ptr<const void> Hold() = 0;

 protected:
  ~StepOwner() = default;
};

// Hands its request to the InferHandler, as an exchange does, and counts and traces its ending. It
// has no call, no place among the open calls and no line in the request log: the whole request has
// them. It has a span if the whole has one, written before the run is told.
//
//   Begin ─▶ InferHandler ─▶ the member's queue ─▶ StepAnswered, or StepFailed
//
// Owned by a StepRun; begins once. Begin() is called by a thread that holds the run; the ending may
// come on any thread, even before Begin() returns. Thread-safe.
class StepRequest final : public ReplySink, private TextWaiter {
 public:
  // The referents outlive it.
  StepRequest(const StepContext* context, StepOwner* owner, uint32_t step)
      : context_(context), owner_(owner), step_(step) {}

  // Filled in before Begin(). The message's payloads outlive Begin() until InputsRead(). It names
  // the outputs that the run takes.
  InferMessage* message() { return &message_; }
  Request* request() { return &request_; }

  // Admits the request or ends it.
  void Begin();

  // Nobody awaits the step any more. It ends as CANCELLED, now or soon, unless it has ended.
  // REQUIRES: the caller holds the run, and Begin() was called or is running.
  void Cancel() ABSL_LOCKS_EXCLUDED(mu_);

  // ReplySink.
  void Send(const Answer& answer) override;
  void Fail(const absl::Status& status) override;

 private:
  // TextWaiter, on a thread of TaskThreads.
  absl::Status GoOn() const override { return owner_->StillAwaited(); }
  void TextsDone(const absl::Status& status) override;

  void Handle() ABSL_LOCKS_EXCLUDED(mu_);
  void CancelInQueue();
  void LetGo();
  void Count(absl::StatusCode code);
  void Tell(absl::StatusCode code) const;

  const StepContext* const context_;
  StepOwner* const owner_;
  const uint32_t step_;

  // Written by the thread that begins; then as Request says.
  InferMessage message_;
  Request request_;

  std::atomic<bool> let_go_{false};

  absl::Mutex mu_;
  bool is_handled_ ABSL_GUARDED_BY(mu_) = false;  // its queue, if any, may be told things
  bool cancelled_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace mpsd
