#include "server/compose/child_request.h"

#include "server/request/served_model.h"

namespace mpsd {

absl::Status ChildRequest::Reserve(RequestQueue* queue) {
  request_.reply = Reply(this);
  absl::Status status = queue->Reserve(&request_, &targets_);
  if (status.ok()) {
    NoteQueue(queue);
  } else {
    is_refused_ = true;
    request_.reply.Fail(status);
  }
  return status;
}

void ChildRequest::Fill(RowQueue* queue) {
  if (targets_.later) return;
  request_.filler->Fill(request_.model->spec, request_, targets_);
  queue->Commit(&request_);
}

void ChildRequest::NoteQueue(RequestQueue* queue) {
  {
    absl::MutexLock lock(&mu_);
    queue_ = queue;
    if (!is_cancelled_) return;
  }
  if (queue != nullptr) queue->Cancel(&request_);
}

void ChildRequest::Cancel() {
  RequestQueue* queue = nullptr;
  {
    absl::MutexLock lock(&mu_);
    is_cancelled_ = true;
    queue = queue_;
  }
  if (queue != nullptr) queue->Cancel(&request_);
}

void ChildRequest::Fail(const absl::Status& status) {
  if (!is_refused_) owner_->ChildFailed(this, status);
}

}  // namespace mpsd
