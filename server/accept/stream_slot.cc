#include "server/accept/stream_slot.h"

#include <deque>

#include "server/accept/call_endings.h"
#include "server/accept/reply_wire.h"
#include "server/accept/stream_call.h"
#include "server/request/served_model.h"

namespace mpsd {

void StreamSlot::Send(const Answer& answer) {
  if (!wire.classes().empty()) return SendClasses(answer);
  SendAll(answer);
}

void StreamSlot::SendClasses(Answer answer) {
  std::deque<std::string> storage;
  const absl::Status status =
      Classify(wire.classes(), request.model->spec.batches(), &answer, &storage);
  status.ok() ? SendAll(answer) : Fail(status);
}

void StreamSlot::SendAll(const Answer& answer) {
  CountEnding(request, absl::StatusCode::kOk, stream_->context().clock);
  const ReplyHead head{message.model, request.metrics->version, message.id,
                       message.wants_final_flag};
  ReplyPeer peer;
  if (HasLargeOutput(answer)) {
    peer = {stream_->context().pins, stream_->context().clock, stream_->peer()};
  }
  stream_->Answered(this, WriteStreamReply(head, answer, peer, request.metrics, &scratch_));
}

void StreamSlot::Fail(const absl::Status& status) {
  CountEnding(request, status.code(), stream_->context().clock);
  stream_->Answered(this, WriteStreamError(status.message(), message.id));
}

void StreamSlot::Clear() {
  wire.Clear();
  message.model = message.version = message.id = absl::string_view();
  request.Reset();
  TrimScratch(&scratch_);
}

}  // namespace mpsd
