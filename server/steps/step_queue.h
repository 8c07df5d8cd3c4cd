// StepQueue: the requests inside a model of steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "server/graph/step_graph.h"
#include "server/request/request.h"
#include "server/request/served_model.h"
#include "server/steps/step_context.h"
#include "server/steps/step_run.h"

namespace mpsd {

// Limits of what may be inside one model of steps. A value.
struct StepQueueBounds {
  size_t requests = 0;
  uint64_t bytes = 0;  // bytes of their inputs
};

// Stands where other models have a Pool. A reserved request runs at once, as a StepRun, which reads
// its payloads from the client's message. So Reserve() always says `later`, and nobody calls
// Commit(). The queue bounds what is inside; the members' pools bound what waits for a lane.
//
// Owned by its ServedModel; owns the graph. Thread-safe; calls nothing under its mutex.
class StepQueue final : public RequestQueue, private RunKeeper {
 public:
  // `model` owns this; the context outlives it.
  StepQueue(ServedModel* model, StepGraph graph, const StepQueueBounds& bounds,
            StepContext* context);
  // REQUIRES: no request is inside.
  ~StepQueue() override;

  const StepGraph& graph() const { return graph_; }

  // RequestQueue. Reserve() also returns NOT_FOUND or UNAVAILABLE if a member is missing, and
  // UNAVAILABLE for a request that is itself a step.
  absl::Status Reserve(Request* request, RowTargets* targets) override ABSL_LOCKS_EXCLUDED(mu_);
  void Commit(Request* request) override;
  void Continue(Request* request) override;
  void Cancel(Request* request) override ABSL_LOCKS_EXCLUDED(mu_);
  void Close() override ABSL_LOCKS_EXCLUDED(mu_);
  std::vector<RefusedContent> RefusedContents() override { return {}; }
  size_t ForgiveContents() override { return 0; }

 private:
  // RunKeeper.
  void Leave(Request* request) override ABSL_LOCKS_EXCLUDED(mu_);

  absl::Status Enter(Request* request, const std::shared_ptr<StepRun>& run)
      ABSL_LOCKS_EXCLUDED(mu_);

  ServedModel* const model_;
  const StepGraph graph_;
  const StepQueueBounds bounds_;
  StepContext* const context_;

  absl::Mutex mu_;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  uint64_t bytes_ ABSL_GUARDED_BY(mu_) = 0;  // bytes of the inputs inside
  absl::flat_hash_map<const Request*, std::shared_ptr<StepRun>> runs_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
