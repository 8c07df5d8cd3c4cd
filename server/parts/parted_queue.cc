#include "server/parts/parted_queue.h"

#include <utility>

#include "proto/base/check.h"
#include "server/request/cancelled_by_client.h"
#include "server/request/served_model.h"

namespace mpsd {

PartedQueue::~PartedQueue() {
  absl::MutexLock lock(&mu_);
  MPSD_CHECK(runs_.empty());
}

bool PartedQueue::IsCut(const Request& request) {
  const ModelSpec& spec = request.model->spec;
  return spec.batches() && request.rows > spec.max_batch_size;
}

absl::Status PartedQueue::Reserve(Request* request, RowTargets* targets) {
  if (!IsCut(*request)) return pool_->Reserve(request, targets);
  RunKeeper* const keeper = this;
  const auto run = std::make_shared<PartedRun>(request, pool_.get(), keeper, answers_);
  {
    absl::ReaderMutexLock lock(&entry_mu_);
    if (absl::Status status = run->Reserve(); !status.ok()) return status;
  }
  Enter(request, run);
  targets->later = true;
  run->Start();
  return absl::OkStatus();
}

void PartedQueue::Enter(Request* request, const std::shared_ptr<PartedRun>& run) {
  request->queue = this;
  request->Go(RequestState::kWaiting);
  absl::MutexLock lock(&mu_);
  runs_[request] = run;
}

void PartedQueue::Leave(Request* request) {
  std::shared_ptr<PartedRun> run;  // destroyed after the mutex
  absl::MutexLock lock(&mu_);
  const auto found = runs_.find(request);
  MPSD_CHECK(found != runs_.end());
  run = std::move(found->second);
  runs_.erase(found);
}

// Never called: a request in parts has one answer, and the pool has all other requests.
void PartedQueue::Continue(Request*) { MPSD_CHECK(false); }

void PartedQueue::Cancel(Request* request) {
  std::shared_ptr<PartedRun> run;
  {
    absl::MutexLock lock(&mu_);
    const auto found = runs_.find(request);
    if (found == runs_.end()) return;
    run = found->second;
  }
  run->Cancel(CancelledByClient());
}

void PartedQueue::Close() {
  absl::MutexLock lock(&entry_mu_);
  pool_->Close();
}

}  // namespace mpsd
