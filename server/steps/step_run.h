// StepRun: one request of a model of steps, from its admission to its ending.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "server/graph/step_graph.h"
#include "server/request/request.h"
#include "server/request/run_keeper.h"
#include "server/request/served_model.h"
#include "server/steps/step_context.h"
#include "server/steps/step_request.h"
#include "server/steps/step_tensor.h"

namespace mpsd {

// Runs the steps that the wanted outputs need, each as soon as its tensors exist, and gives the
// request its one ending.
//
//   Begin ─▶ steps without predecessors ─▶ StepAnswered ─▶ steps that are ready now ─▶ … ─▶ Send
//                                       └▶ StepFailed ─▶ the others are cancelled ─▶ … ─▶ Fail
//
// A step begins on the thread that brought its last tensor: the call's, or the one that found the
// completion. A run has no thread and no timer: each open step lies in a queue, which enforces the
// deadline.
//
// Invariants:
//   1. The request ends exactly once, when no step is open: then nobody reads its payloads.
//   2. After the first fault, or a cancellation, no step begins.
//   3. `tensors_[i]` is written before its maker is in `done_`, and read by steps that begin
//      afterwards.
//   4. No function of a queue, a reply or the handler is called under the mutex.
//
// Owned by its queue's table until it ends, and by each thread inside. Thread-safe.
class StepRun final : private StepOwner, public std::enable_shared_from_this<StepRun> {
 public:
  // The run has the request until it ends. The referents outlive the run; the keeper lives as long
  // as the request's model. REQUIRES: the request is checked against its model's spec.
  StepRun(StepContext* context, const StepGraph* graph, RunKeeper* keeper, Request* request);

  // Begins the first steps. The request may have ended when this returns. Called once.
  void Begin();

  // The request ends with this status once its steps have ended, unless it ends already.
  void Cancel(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // StepOwner.
  void InputsRead(uint32_t step) override;
  void StepAnswered(uint32_t step, const Answer& answer) override ABSL_LOCKS_EXCLUDED(mu_);
  void StepFailed(uint32_t step, const absl::Status& status) override ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status StillAwaited() override ABSL_LOCKS_EXCLUDED(mu_);
  std::shared_ptr<const void> Hold() override { return shared_from_this(); }

  // A tensor with its count of users: steps that read it, and the request itself if it is an
  // output.
  struct Place {
    bool is_used() const { return uses.load(std::memory_order_relaxed) > 0; }

    StepTensor tensor;
    std::atomic<uint32_t> uses{0};
    bool is_fixed = false;  // a reader looks for kept answers, so the bytes must not change
  };

  void CountUses();
  void LendInputs();
  void BeginReady() ABSL_LOCKS_EXCLUDED(mu_);
  StepRequest* TakeReady() ABSL_LOCKS_EXCLUDED(mu_);
  void Fill(uint32_t step, StepRequest* target);
  std::unique_ptr<const RequestSpan> BeginSpan(uint32_t step) const;
  absl::Status HoldOutputs(uint32_t step, const Answer& answer);
  void NoteAnswered(uint32_t step) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // True if the request waited only for this answer: the caller then ends it.
  bool EndWith(uint32_t step) ABSL_LOCKS_EXCLUDED(mu_);
  // Sets the fault that ends the request. False if it has one already.
  bool SetFault(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void CancelOpen() ABSL_LOCKS_EXCLUDED(mu_);
  void EndIfOver() ABSL_LOCKS_EXCLUDED(mu_);
  void Give(AnswerMemory* memory) ABSL_LOCKS_EXCLUDED(mu_);
  void CountAnswer() ABSL_LOCKS_EXCLUDED(mu_);

  // Constant.
  StepContext* const context_;
  const StepGraph* const graph_;
  RunKeeper* const keeper_;
  Request* const request_;
  const std::shared_ptr<ServedModel> model_;  // outlives the reply, with which the request's goes
  const StepSet needed_;
  const int64_t deadline_ns_;
  std::vector<std::unique_ptr<StepRequest>> steps_;  // null: step not needed

  std::vector<Place> places_;  // by tensor of the graph; invariant 3

  mutable absl::Mutex mu_;
  StepSet begun_ ABSL_GUARDED_BY(mu_) = 0;
  StepSet done_ ABSL_GUARDED_BY(mu_) = 0;   // answered
  StepSet ended_ ABSL_GUARDED_BY(mu_) = 0;  // answered or failed
  bool is_over_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status fault_ ABSL_GUARDED_BY(mu_);
  StageSums sums_ ABSL_GUARDED_BY(mu_);  // for the answered steps
  int64_t queue_ns_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace mpsd
