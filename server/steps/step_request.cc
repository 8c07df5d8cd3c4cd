#include "server/steps/step_request.h"

#include <deque>
#include <string>

#include "server/exchange/request_ending.h"
#include "server/exchange/row_spread.h"
#include "server/request/served_model.h"
#include "server/request/token_rows.h"

namespace mpsd {

void StepRequest::Begin() {
  request_.reply = Reply(this);
  Handle();
}

// If texts are encoded elsewhere, the run lives until TextsDone(), since the request has not ended.
void StepRequest::Handle() {
  switch (context_->handler->Handle(message_, &request_)) {
    case Handled::kAwaitsTexts:
      return context_->handler->EncodeTexts(message_, &request_, this);
    case Handled::kCopied:
      LetGo();
      break;
    case Handled::kLater:
      break;
  }
  {
    absl::MutexLock lock(&mu_);
    is_handled_ = true;
    if (!cancelled_) return;
  }
  CancelInQueue();
}

void StepRequest::TextsDone(const absl::Status& status) {
  const std::shared_ptr<const void> held = owner_->Hold();
  status.ok() ? Handle() : request_.reply.Fail(status);
}

void StepRequest::Cancel() {
  {
    absl::MutexLock lock(&mu_);
    cancelled_ = true;
    if (!is_handled_) return;
  }
  CancelInQueue();
}

// The queue goes with its model, which only this request may keep.
void StepRequest::CancelInQueue() {
  const std::shared_ptr<ServedModel> model = request_.model;
  if (request_.queue != nullptr) request_.queue->Cancel(&request_);
}

void StepRequest::LetGo() {
  if (!let_go_.exchange(true, std::memory_order_acq_rel)) owner_->InputsRead(step_);
}

// If a step is refused before its model is found, only the whole request counts it.
void StepRequest::Count(absl::StatusCode code) {
  if (request_.metrics == nullptr) return;
  CountEnding(request_, code, context_->metrics, context_->clock);
}

void StepRequest::Tell(absl::StatusCode code) const {
  TellEnding(request_, message_, code, {}, context_->observers, context_->clock);
}

void StepRequest::Send(const Answer& answer) {
  Count(absl::StatusCode::kOk);
  LetGo();
  if (request_.row_of_text.empty()) {
    Tell(absl::StatusCode::kOk);
    return owner_->StepAnswered(step_, answer);
  }
  Answer spread = answer;
  std::deque<std::string> storage;
  const absl::Status status =
      SpreadRows(request_.row_of_text, request_.model->facts.answer_bytes_max, &spread, &storage);
  Tell(status.code());
  status.ok() ? owner_->StepAnswered(step_, spread) : owner_->StepFailed(step_, status);
}

void StepRequest::Fail(const absl::Status& status) {
  Count(status.code());
  Tell(status.code());
  LetGo();
  owner_->StepFailed(step_, status);
}

}  // namespace mpsd
