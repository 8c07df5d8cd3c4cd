#include "server/compose/steps/step_request.h"

#include <deque>
#include <memory>
#include <string>

#include "server/compose/steps/step_run.h"
#include "server/exchange/request_ending.h"
#include "server/exchange/row_spread.h"
#include "server/request/served_model.h"
#include "server/request/token_rows.h"

namespace mpsd {

StepRequest::StepRequest(const StepContext* context, StepRun* run, uint32_t step)
    : ChildRequest(run, step), context_(context), run_(run) {}

void StepRequest::Begin() {
  request()->reply = Reply(this);
  Handle();
}

// If texts are encoded elsewhere, the run lives until TextsDone().
void StepRequest::Handle() {
  switch (context_->handler->Handle(message_, request())) {
    case Handled::kAwaitsTexts:
      return context_->handler->EncodeTexts(message_, request(), this);
    case Handled::kCopied:
      LetGo();
      break;
    case Handled::kLater:
      break;
  }
  NoteQueue(request()->queue);
}

absl::Status StepRequest::GoOn() const { return run_->StillAwaited(); }

void StepRequest::TextsDone(const absl::Status& status) {
  const std::shared_ptr<const void> held = run_->shared_from_this();
  status.ok() ? Handle() : request()->reply.Fail(status);
}

void StepRequest::LetGo() {
  if (!let_go_.exchange(true, std::memory_order_acq_rel)) run_->InputsRead(number());
}

// Before its model is found, only the whole request counts.
void StepRequest::Count(absl::StatusCode code) {
  if (request()->metrics == nullptr) return;
  CountEnding(*request(), code, context_->metrics, context_->clock);
}

void StepRequest::Tell(absl::StatusCode code) const {
  TellEnding(request(), message_, code, {}, context_->observers, context_->clock);
}

void StepRequest::Send(const Answer& answer) {
  Count(absl::StatusCode::kOk);
  LetGo();
  if (request()->row_of_text.empty()) {
    Tell(absl::StatusCode::kOk);
    return ChildRequest::Send(answer);
  }
  Answer spread = answer;
  std::deque<std::string> storage;
  const absl::Status status = SpreadRows(
      request()->row_of_text, request()->model->facts.answer_bytes_max, &spread, &storage);
  Tell(status.code());
  status.ok() ? ChildRequest::Send(spread) : ChildRequest::Fail(status);
}

void StepRequest::Fail(const absl::Status& status) {
  Count(status.code());
  Tell(status.code());
  LetGo();
  ChildRequest::Fail(status);
}

}  // namespace mpsd
