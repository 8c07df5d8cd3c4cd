#include "server/compose/parts/parted_queue.h"

#include "proto/base/check.h"
#include "server/compose/parts/parted_run.h"
#include "server/request/served_model.h"

namespace mpsd {

bool PartedQueue::IsCut(const Request& request) {
  const ModelSpec& spec = request.model->spec;
  return spec.batches() && request.rows > spec.max_batch_size;
}

absl::Status PartedQueue::Reserve(Request* request, RowTargets* targets) {
  if (!IsCut(*request)) return pool_->Reserve(request, targets);
  const auto run = std::make_shared<PartedRun>(request, pool_.get(), &runs_, answers_);
  {
    absl::ReaderMutexLock lock(&entry_mu_);
    if (absl::Status status = run->Reserve(); !status.ok()) return status;
  }
  MPSD_CHECK(runs_.Enter(request, /*bytes=*/0, run).ok());
  targets->later = true;
  run->Start();
  return absl::OkStatus();
}

void PartedQueue::Cancel(Request* request) { runs_.Cancel(request, CancelledByClient()); }

void PartedQueue::Close() {
  absl::MutexLock lock(&entry_mu_);
  pool_->Close();
}

}  // namespace mpsd
