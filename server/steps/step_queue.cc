#include "server/steps/step_queue.h"

#include <utility>

#include "proto/base/check.h"
#include "server/exchange/request_ending.h"
#include "server/request/infer_message.h"
#include "server/request/retry_info.h"

namespace mpsd {

StepQueue::StepQueue(ServedModel* model, StepGraph graph, const StepQueueBounds& bounds,
                     StepContext* context)
    : model_(model), graph_(std::move(graph)), bounds_(bounds), context_(context) {}

StepQueue::~StepQueue() {
  absl::MutexLock lock(&mu_);
  MPSD_CHECK(runs_.empty());
}

absl::Status StepQueue::Reserve(Request* request, RowTargets* targets) {
  if (request->is_step) {
    return absl::UnavailableError("a model that has steps itself cannot be one");
  }
  if (absl::Status status = model_->members->Check(MemberNeed::kLoaded); !status.ok()) {
    return status;
  }
  RunKeeper* const keeper = this;
  const auto run = std::make_shared<StepRun>(context_, &graph_, keeper, request);
  if (absl::Status status = Enter(request, run); !status.ok()) return status;
  targets->later = true;
  run->Begin();
  return absl::OkStatus();
}

absl::Status StepQueue::Enter(Request* request, const std::shared_ptr<StepRun>& run) {
  uint64_t bytes = 0;
  for (const RequestInput& input : request->inputs) bytes += input.payload->bytes;
  absl::MutexLock lock(&mu_);
  if (closed_) return absl::AbortedError("the model was replaced");
  if (runs_.size() >= bounds_.requests || bytes > bounds_.bytes - bytes_) {
    return Busy("Exceeds maximum queue size");
  }
  bytes_ += bytes;
  request->queued_bytes = bytes;
  request->queue = this;
  request->Go(RequestState::kWaiting);
  runs_[request] = run;
  context_->inside.fetch_add(1, std::memory_order_relaxed);
  return absl::OkStatus();
}

void StepQueue::Leave(Request* request) {
  std::shared_ptr<StepRun> run;  // destroyed after the mutex
  absl::MutexLock lock(&mu_);
  const auto found = runs_.find(request);
  MPSD_CHECK(found != runs_.end() && bytes_ >= request->queued_bytes);
  run = std::move(found->second);
  runs_.erase(found);
  bytes_ -= request->queued_bytes;
  context_->inside.fetch_sub(1, std::memory_order_relaxed);
}

// Never called: Reserve() has said `later`, and a model of steps has one answer.
void StepQueue::Commit(Request*) { MPSD_CHECK(false); }
void StepQueue::Continue(Request*) { MPSD_CHECK(false); }

void StepQueue::Cancel(Request* request) {
  std::shared_ptr<StepRun> run;
  {
    absl::MutexLock lock(&mu_);
    const auto found = runs_.find(request);
    if (found == runs_.end()) return;
    run = found->second;
  }
  run->Cancel(CallCancelled());
}

void StepQueue::Close() {
  absl::MutexLock lock(&mu_);
  closed_ = true;
}

}  // namespace mpsd
