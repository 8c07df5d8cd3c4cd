// StepRun: one request of a model of steps.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "server/compose/child_run.h"
#include "server/compose/steps/step_context.h"
#include "server/compose/steps/step_request.h"
#include "server/compose/steps/step_tensor.h"
#include "server/request/graph/step_graph.h"
#include "server/request/request.h"

namespace mpsd {

// Runs the steps that the wanted outputs need, each as soon as its tensors exist:
//
//   Begin ─▶ steps without predecessors ─▶ ChildAnswered ─▶ steps that are ready now ─▶ … ─▶ Give
//
// A step begins on the thread that brought its last tensor. The request may have its answer while
// threads further out on the stack still begin steps.
//
// Invariant: `places_[i]` is written before its maker is in `done_`, and read by steps that begin
// afterwards. Owned as a ChildRun. Thread-safe.
class StepRun final : public ChildRun {
 public:
  // The table lives as long as the request's model. REQUIRES: the request is checked against its
  // model's spec.
  StepRun(StepContext* context, const StepGraph* graph, RunTable* table, Request* request);

  // The request may have ended when this returns. Called once.
  void Begin();

  // Nobody reads the step's inputs any more. Called once for each step.
  void InputsRead(uint32_t step);

  absl::Status StillAwaited() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void ChildAnswered(ChildRequest* child, const Answer& answer) override ABSL_LOCKS_EXCLUDED(mu_);
  void ChildFailed(ChildRequest* child, const absl::Status& status) override;
  void Give() override { GiveFrom(nullptr); }

  // Users are steps that read the tensor, and the request if it is an output.
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
  void GiveLast(uint32_t step, const Answer& answer);
  void GiveFrom(AnswerMemory* memory) ABSL_LOCKS_EXCLUDED(mu_);
  void CountAnswer() ABSL_LOCKS_EXCLUDED(mu_);

  // Constant.
  StepContext* const context_;
  const StepGraph* const graph_;
  const StepSet needed_;
  const int64_t deadline_ns_;
  std::vector<std::unique_ptr<StepRequest>> steps_;  // null: not needed

  std::vector<Place> places_;  // by tensor of the graph

  StepSet begun_ ABSL_GUARDED_BY(mu_) = 0;
  StepSet done_ ABSL_GUARDED_BY(mu_) = 0;  // answered
  StageSums sums_ ABSL_GUARDED_BY(mu_);
  int64_t queue_ns_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace mpsd
