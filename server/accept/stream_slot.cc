#include "server/accept/stream_slot.h"

#include <deque>

#include "server/accept/answer_wishes.h"
#include "server/accept/call_endings.h"
#include "server/accept/reply_wire.h"
#include "server/accept/stream_call.h"
#include "server/request/served_model.h"

namespace mpsd {

void StreamSlot::Send(const Answer& answer) {
  if (HasWishes(wire, regions)) return SendAsWished(answer);
  SendAll(answer);
}

void StreamSlot::SendAsWished(Answer answer) {
  std::deque<std::string> storage;
  const bool batches = request.model->spec.batches();
  const absl::Status status = GrantWishes(wire, regions, batches, &answer, &storage);
  status.ok() ? SendAll(answer) : Fail(status);
}

void StreamSlot::SendAll(const Answer& answer) {
  TellEnded(absl::StatusCode::kOk);
  const ReplyHead head{message.model, request.metrics->version, message.id,
                       message.wants_final_flag};
  ReplyPeer peer;
  if (HasLargeOutput(answer)) {
    peer = {stream_->context().pins, stream_->context().clock, stream_->peer()};
  }
  stream_->Answered(this, WriteStreamReply(head, answer, peer, request.metrics, &scratch_));
}

void StreamSlot::Fail(const absl::Status& status) {
  TellEnded(status.code());
  stream_->Answered(this, WriteStreamError(status.message(), message.id));
}

void StreamSlot::TellEnded(absl::StatusCode code) {
  const InferCallContext& context = stream_->context();
  CountEnding(request, code, context.clock);
  TellEnding(request, message, code, stream_->trace(), traced, context.observers, context.clock);
}

void StreamSlot::Clear() {
  wire.Clear();
  regions.Clear();
  message.model = message.version = message.id = absl::string_view();
  request.Reset();
  TrimScratch(&scratch_);
}

}  // namespace mpsd
