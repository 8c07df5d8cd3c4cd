// StepQueue: the requests inside a model of steps.
#pragma once

#include "absl/status/status.h"
#include "server/compose/run_table.h"
#include "server/compose/steps/step_context.h"
#include "server/request/graph/step_graph.h"
#include "server/request/request.h"
#include "server/request/served_model.h"

namespace mpsd {

// Stands where other models have a Pool, and bounds what is inside. A reserved request runs at
// once, as a StepRun, which reads its payloads from the client's message. So Reserve() says
// `later`. Owned by its ServedModel; owns the graph. Thread-safe.
class StepQueue final : public RequestQueue {
 public:
  StepQueue(ServedModel* model, StepGraph graph, const RunBounds& bounds, StepContext* context);

  const StepGraph& graph() const { return graph_; }

  // Reserve() also returns NOT_FOUND or UNAVAILABLE if a member is missing, and UNAVAILABLE for a
  // request that is itself a step.
  absl::Status Reserve(Request* request, RowTargets* targets) override;
  void Cancel(Request* request) override;
  void Close() override { runs_.Close(); }

 private:
  ServedModel* const model_;
  const StepGraph graph_;
  StepContext* const context_;
  RunTable runs_;
};

}  // namespace mpsd
