#include "server/compose/child_run.h"

#include "proto/base/check.h"

namespace mpsd {

ChildRun::ChildRun(Request* whole, RunTable* table)
    : whole_(whole), model_(whole->model), table_(table) {}

bool ChildRun::NoteBegun(ChildRequest* child) {
  if (is_over_ || !fault_.ok()) return false;
  open_.push_back(child);
  return true;
}

bool ChildRun::SetFault(const absl::Status& status) {
  if (is_over_ || !fault_.ok()) return false;
  fault_ = status;
  return true;
}

void ChildRun::Cancel(const absl::Status& status) {
  std::vector<ChildRequest*> open;
  {
    absl::MutexLock lock(&mu_);
    if (!SetFault(status)) return;
    open = open_;
  }
  for (ChildRequest* const child : open) child->Cancel();
}

// The child counts as open while the others are cancelled, so the request has not ended yet.
void ChildRun::Close(ChildRequest* child, const absl::Status& status) {
  const std::shared_ptr<ChildRun> self = shared_from_this();
  if (!status.ok()) Cancel(status);
  absl::Status fault;
  {
    absl::MutexLock lock(&mu_);
    if (child == nullptr) {
      is_beginning_ = false;
    } else {
      MPSD_CHECK(std::erase(open_, child) == 1);
    }
    if (is_over_ || is_beginning_ || !open_.empty()) return;
    is_over_ = true;
    fault = fault_;
  }
  if (fault.ok()) return Give();
  whole_->Go(RequestState::kEnded);
  table_->Leave(whole_);
  whole_->reply.Fail(fault);
}

void ChildRun::Send(const Answer& answer) {
  whole_->is_answered = true;
  whole_->Go(RequestState::kEnded);
  table_->Leave(whole_);
  whole_->reply.Send(answer);
}

}  // namespace mpsd
