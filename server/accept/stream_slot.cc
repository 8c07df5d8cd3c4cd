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
  const absl::Status status = GrantWishes(wire, &regions, batches, &answer, &storage);
  if (!status.ok()) return Fail(status);
  regions.has_device_outputs() ? SendWhenStored(answer) : SendAll(answer);
}

// Once it is queued the request may be over at any time.
void StreamSlot::SendWhenStored(const Answer& answer) {
  const absl::Status queued = stream_->context().regions->copier()->Enqueue(
      [this, bytes = Write(answer, /*is_final=*/true)] {
        const absl::Status stored = regions.StoreToDevice();
        if (!stored.ok()) return Fail(stored);
        TellEnded(absl::StatusCode::kOk);
        stream_->Answered(this, bytes, {});
      });
  if (!queued.ok()) Fail(queued);
}

void StreamSlot::SendAll(const Answer& answer) {
  TellEnded(absl::StatusCode::kOk);
  stream_->Answered(this, Write(answer, /*is_final=*/true), {});
}

grpc::ByteBuffer StreamSlot::Write(const Answer& answer, bool is_final) {
  const ReplyHead head{message.model, request.metrics->version, message.id,
                       message.wants_final_flag, is_final};
  ReplyPeer peer;
  if (HasLargeOutput(answer)) {
    peer = {stream_->context().pins, stream_->context().clock, stream_->peer()};
  }
  return WriteStreamReply(head, answer, peer, request.metrics, &scratch_);
}

void StreamSlot::SendPart(const Answer& answer) {
  if (!HasWishes(wire, regions)) return stream_->AnsweredInPart(this, Write(answer, false));
  Answer wished = answer;
  std::deque<std::string> storage;
  const bool batches = request.model->spec.batches();
  const absl::Status status = GrantWishes(wire, &regions, batches, &wished, &storage);
  if (!status.ok()) return RefusePart(status);
  if (regions.has_device_outputs()) return SendPartWhenStored(wished);
  stream_->AnsweredInPart(this, Write(wished, false));
}

void StreamSlot::SendPartWhenStored(const Answer& answer) {
  const absl::Status queued = stream_->context().regions->copier()->Enqueue(
      [this, bytes = Write(answer, /*is_final=*/false)] {
        const absl::Status stored = regions.StoreToDevice();
        stored.ok() ? stream_->AnsweredInPart(this, bytes) : RefusePart(stored);
      });
  if (!queued.ok()) RefusePart(queued);
}

// The request ends as the status says, whatever was to follow.
void StreamSlot::RefusePart(const absl::Status& status) {
  refusal_ = status;
  request.queue->Cancel(&request);
  request.queue->Continue(&request);
}

void StreamSlot::End() {
  TellEnded(absl::StatusCode::kOk);
  stream_->Answered(this, {}, EmptyFinal());
}

void StreamSlot::Fail(const absl::Status& ending) {
  const absl::Status& status = refusal_.ok() ? ending : refusal_;
  TellEnded(status.code());
  stream_->Answered(this, WriteStreamError(status.message(), message.id),
                    of_decoupled_model() ? EmptyFinal() : grpc::ByteBuffer());
}

bool StreamSlot::of_decoupled_model() const {
  return request.model != nullptr && request.model->loaded && request.model->spec.decoupled;
}

// The answer that says that there is none, where the client wants to be told.
grpc::ByteBuffer StreamSlot::EmptyFinal() {
  return message.wants_final_flag ? Write(Answer(), /*is_final=*/true) : grpc::ByteBuffer();
}

void StreamSlot::TellEnded(absl::StatusCode code) {
  const InferCallContext& context = stream_->context();
  CountEnding(request, code, context.clock);
  TellEnding(request, message, code, stream_->trace(), traced, context.observers, context.clock);
}

absl::Status StreamSlot::LoadFromDevice(const InferCallContext& context) {
  return device_load_.Begin(context, request.deadline_ns, &regions, &loaded_);
}

void StreamSlot::Loaded(bool) { stream_->Loaded(this); }

void StreamSlot::Clear() {
  wire.Clear();
  regions.Clear();
  message.model = message.version = message.id = absl::string_view();
  request.Reset();
  refusal_ = absl::OkStatus();
  TrimScratch(&scratch_);
}

}  // namespace mpsd
