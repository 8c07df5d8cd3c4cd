#include "server/accept/stream_slot.h"

#include <deque>

#include "server/accept/answer_wishes.h"
#include "server/accept/call_endings.h"
#include "server/accept/stream_call.h"
#include "server/request/served_model.h"
#include "server/wire/reply_wire.h"
#include "server/wire/status_map.h"

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
  const absl::StatusOr<grpc::ByteBuffer> bytes = Write(answer, /*is_final=*/true);
  if (!bytes.ok()) return Fail(bytes.status());
  const absl::Status queued = stream_->context().regions->copier()->Enqueue([this, bytes = *bytes] {
    const absl::Status stored = regions.StoreToDevice();
    if (!stored.ok()) return Fail(stored);
    TellEnded(absl::StatusCode::kOk);
    stream_->Answered(this, bytes, {});
  });
  if (!queued.ok()) Fail(queued);
}

void StreamSlot::SendAll(const Answer& answer) {
  absl::StatusOr<grpc::ByteBuffer> bytes = Write(answer, /*is_final=*/true);
  if (!bytes.ok()) return Fail(bytes.status());
  TellEnded(absl::StatusCode::kOk);
  stream_->Answered(this, *std::move(bytes), {});
}

absl::StatusOr<grpc::ByteBuffer> StreamSlot::Write(const Answer& answer, bool is_final) {
  const ReplyHead head{message.model, request.metrics->version, message.id,
                       message.wants_final_flag, is_final};
  ReplyPeer peer;
  if (HasLargeOutput(answer)) {
    peer = {stream_->context().pins, stream_->context().clock, stream_->peer()};
  }
  return WriteStreamReply(head, answer, peer, request.metrics, &scratch_);
}

void StreamSlot::SendPart(const Answer& answer) {
  if (!HasWishes(wire, regions)) return SendPartAsItIs(answer);
  Answer wished = answer;
  std::deque<std::string> storage;
  const bool batches = request.model->spec.batches();
  const absl::Status status = GrantWishes(wire, &regions, batches, &wished, &storage);
  if (!status.ok()) return RefusePart(status);
  if (regions.has_device_outputs()) return SendPartWhenStored(wished);
  SendPartAsItIs(wished);
}

void StreamSlot::SendPartAsItIs(const Answer& answer) {
  absl::StatusOr<grpc::ByteBuffer> bytes = Write(answer, /*is_final=*/false);
  if (!bytes.ok()) return RefusePart(bytes.status());
  CountAnswer(AnswerOutcome::kSent);
  stream_->AnsweredInPart(this, *std::move(bytes));
}

void StreamSlot::SendPartWhenStored(const Answer& answer) {
  const absl::StatusOr<grpc::ByteBuffer> bytes = Write(answer, /*is_final=*/false);
  if (!bytes.ok()) return RefusePart(bytes.status());
  const absl::Status queued = stream_->context().regions->copier()->Enqueue([this, bytes = *bytes] {
    const absl::Status stored = regions.StoreToDevice();
    if (!stored.ok()) return RefusePart(stored);
    CountAnswer(AnswerOutcome::kSent);
    stream_->AnsweredInPart(this, bytes);
  });
  if (!queued.ok()) RefusePart(queued);
}

// The request ends as the status says, whatever was to follow.
void StreamSlot::RefusePart(const absl::Status& status) {
  refusal_ = status;
  request.queue->Cancel(&request);
  request.queue->Continue(&request);
}

// Before it is handed to the stream, which may bring the next one at once.
void StreamSlot::CountAnswer(AnswerOutcome outcome) {
  if (request.queue == nullptr || !of_decoupled_model()) return;
  const StageSums& sums = request.sums;
  request.metrics->answers.Add(sent_answers_, outcome, sums.infer_ns - counted_.infer_ns,
                               sums.output_ns - counted_.output_ns);
  counted_ = sums;
  if (outcome == AnswerOutcome::kSent) ++sent_answers_;
}

void StreamSlot::End() {
  CountAnswer(AnswerOutcome::kNoMore);
  TellEnded(absl::StatusCode::kOk);
  stream_->Answered(this, {}, EmptyFinal());
}

void StreamSlot::Fail(const absl::Status& ending) {
  const absl::Status& status = refusal_.ok() ? ending : refusal_;
  CountAnswer(absl::IsCancelled(status) ? AnswerOutcome::kCancelled : AnswerOutcome::kFailed);
  TellEnded(status.code());
  stream_->Answered(this, WriteStreamError(CutToHeaderLimit(status.message()), message.id),
                    of_decoupled_model() ? EmptyFinal() : grpc::ByteBuffer());
}

bool StreamSlot::of_decoupled_model() const {
  return request.model != nullptr && request.model->loaded && request.model->spec.decoupled;
}

// The answer that says that there is none, where the client wants to be told.
grpc::ByteBuffer StreamSlot::EmptyFinal() {
  // It has no output, and so nothing that could be too much.
  return message.wants_final_flag ? *Write(Answer(), /*is_final=*/true) : grpc::ByteBuffer();
}

void StreamSlot::TellEnded(absl::StatusCode code) {
  const InferCallContext& context = stream_->context();
  CountEnding(request, code, context.metrics, context.clock);
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
  counted_ = {};
  sent_answers_ = 0;
  TrimScratch(&scratch_);
}

}  // namespace mpsd
