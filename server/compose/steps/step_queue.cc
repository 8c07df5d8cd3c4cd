#include "server/compose/steps/step_queue.h"

#include <memory>
#include <utility>

#include "server/compose/steps/step_run.h"
#include "server/exchange/request_ending.h"
#include "server/request/infer_message.h"

namespace mpsd {

StepQueue::StepQueue(ServedModel* model, StepGraph graph, const RunBounds& bounds,
                     StepContext* context)
    : model_(model),
      graph_(std::move(graph)),
      context_(context),
      runs_(this, bounds, &context->inside) {}

absl::Status StepQueue::Reserve(Request* request, RowTargets* targets) {
  if (request->is_step) {
    return absl::UnavailableError("a model that has steps itself cannot be one");
  }
  if (absl::Status status = model_->members->Check(MemberNeed::kLoaded); !status.ok()) {
    return status;
  }
  uint64_t bytes = 0;
  for (const RequestInput& input : request->inputs) bytes += input.payload->bytes;
  const auto run = std::make_shared<StepRun>(context_, &graph_, &runs_, request);
  if (absl::Status status = runs_.Enter(request, bytes, run); !status.ok()) return status;
  targets->later = true;
  run->Begin();
  return absl::OkStatus();
}

void StepQueue::Cancel(Request* request) { runs_.Cancel(request, CallCancelled()); }

}  // namespace mpsd
