#include "server/compose/run_table.h"

#include <utility>

#include "proto/base/check.h"
#include "server/compose/child_run.h"
#include "server/request/retry_info.h"

namespace mpsd {

RunTable::~RunTable() {
  absl::MutexLock lock(&mu_);
  MPSD_CHECK(runs_.empty());
}

absl::Status RunTable::Enter(Request* request, uint64_t bytes,
                             const std::shared_ptr<ChildRun>& run) {
  absl::MutexLock lock(&mu_);
  if (is_closed_) return absl::AbortedError("the model was replaced");
  if (runs_.size() >= bounds_.requests || bytes > bounds_.bytes - bytes_) {
    return Busy("Exceeds maximum queue size");
  }
  bytes_ += bytes;
  request->queued_bytes = bytes;
  request->queue = queue_;
  request->Go(RequestState::kWaiting);
  runs_[request] = run;
  if (inside_ != nullptr) inside_->fetch_add(1, std::memory_order_relaxed);
  return absl::OkStatus();
}

void RunTable::Leave(Request* request) {
  std::shared_ptr<ChildRun> run;  // destroyed after the mutex
  absl::MutexLock lock(&mu_);
  const auto found = runs_.find(request);
  MPSD_CHECK(found != runs_.end() && bytes_ >= request->queued_bytes);
  run = std::move(found->second);
  runs_.erase(found);
  bytes_ -= request->queued_bytes;
  if (inside_ != nullptr) inside_->fetch_sub(1, std::memory_order_relaxed);
}

void RunTable::Cancel(Request* request, const absl::Status& status) {
  std::shared_ptr<ChildRun> run;
  {
    absl::MutexLock lock(&mu_);
    const auto found = runs_.find(request);
    if (found == runs_.end()) return;
    run = found->second;
  }
  run->Cancel(status);
}

void RunTable::Close() {
  absl::MutexLock lock(&mu_);
  is_closed_ = true;
}

}  // namespace mpsd
