#include "server/accept/stream_request.h"

#include <grpc/support/time.h>

#include <utility>

#include "proto/base/check.h"
#include "server/wire/reply_wire.h"
#include "server/wire/status_map.h"

namespace mpsd {

StreamRequest::StreamRequest(const StreamSource& source)
    : source_(source),
      thread_(source.context->exchange.thread),
      writer_(source.context, &WriteStreamReply),
      exchange_(&source.context->exchange, this, InferExchange::Answers::kMany) {}

absl::Status StreamRequest::Read(InferMessage* message, TensorForms* forms) {
  thread_->Check();
  absl::Status status = wire_.Read(*source_.bytes, source_.context->message_bytes, message);
  if (status.ok()) *forms = wire_.forms();
  return status;
}

absl::Status StreamRequest::MayUse(absl::string_view model) {
  absl::Status status =
      source_.context->gate->MayUse(source_.rpc, kModelStreamInferAccess, model, source_.grant);
  if (status.ok()) status = source_.context->open_infer_calls->EnterBeside(*source_.place, &place);
  if (status.ok()) status = place.BelongTo(model);
  if (!status.ok()) place.Leave();  // its error is bounded with everything in the stream
  return status;
}

void StreamRequest::DropPayloads() {
  thread_->Check();
  wire_.DropBuffers();
}

void StreamRequest::Resume() {
  alarm_.emplace();
  alarm_->Set(source_.context->queue, gpr_now(GPR_CLOCK_MONOTONIC), &resumed_);
}

void StreamRequest::Resumed(bool) { exchange_.Resumed(); }

absl::Status StreamRequest::Write(const Answer& answer, bool is_last) {
  absl::StatusOr<grpc::ByteBuffer> written =
      writer_.Write(exchange_, *source_.rpc, answer, is_last);
  if (written.ok()) written_.Swap(&*written);
  return written.status();
}

grpc::ByteBuffer StreamRequest::TakeWritten() {
  grpc::ByteBuffer written;
  written.Swap(&written_);
  return written;
}

void StreamRequest::SendPart() { source_.answers->AnsweredInPart(this, TakeWritten()); }

void StreamRequest::SendLast() { source_.answers->Answered(this, TakeWritten(), {}); }

void StreamRequest::SendNoMore() { source_.answers->Answered(this, {}, EmptyFinal()); }

// A request that no model has admitted counts for none.
void StreamRequest::SendError(const absl::Status& status) {
  if (exchange_.request().model == nullptr) place.BelongToNone();
  const absl::string_view id = exchange_.message().id;
  const ReplyPeer peer = MayBeLarge({"", "", id}, {}) ? writer_.PeerOf(*source_.rpc) : ReplyPeer();
  grpc::ByteBuffer error = WriteStreamError(CutToHeaderLimit(status.message()), id, peer);
  const bool has_several = IsDecoupled(exchange_.request());
  source_.answers->Answered(this, std::move(error),
                            has_several ? EmptyFinal() : grpc::ByteBuffer());
}

// A message that no further answer comes, if the client wants to be told.
grpc::ByteBuffer StreamRequest::EmptyFinal() {
  if (!exchange_.message().wants_final_flag) return {};
  const absl::Status status = Write(Answer(), /*is_last=*/true);
  MPSD_CHECK(status.ok());  // it has no output, so that it is always written
  return TakeWritten();
}

void StreamRequest::Clear() {
  thread_->Check();
  exchange_.Clear();
  wire_.Clear();
  writer_.Trim();
  written_.Clear();
}

}  // namespace mpsd
