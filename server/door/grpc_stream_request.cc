#include "server/door/grpc_stream_request.h"

#include <utility>

#include "proto/base/check.h"
#include "server/access/method_access.h"
#include "server/bodies/grpc/reply_wire.h"
#include "server/bodies/grpc/status_map.h"
#include "server/door/grpc_form.h"
#include "server/door/http_gate.h"
#include "server/door/unread_room.h"
#include "server/request/served_model.h"

namespace mpsd {

GrpcStreamRequest::GrpcStreamRequest(const GrpcStreamSource& source)
    : source_(source),
      thread_(source.context->exchange.thread),
      inflation_(source.context->inflaters, source.context->inflate_bounds),
      exchange_(&source.context->exchange, this, InferExchange::Answers::kMany) {}

bool GrpcStreamRequest::Take(GrpcPiece message, std::function<void()> inflated) {
  thread_->Check();
  message_ = std::move(message);
  held_bytes_ = message_.wire_bytes;
  arrived_ = absl::OkStatus();
  if (!message_.is_compressed) return false;
  inflated_ = std::move(inflated);
  inflation_.Begin(source_.coding, message_.view(), source_.call, [this] { Resume(); });
  return true;
}

void GrpcStreamRequest::Resumed() {
  thread_->Check();
  if (!inflation_.TakeResumed()) return exchange_.Resumed();
  arrived_ = inflation_.status();
  GiveBack();
  message_ = GrpcPiece{inflation_.TakeBytes()};
  std::exchange(inflated_, nullptr)();
}

absl::Status GrpcStreamRequest::Read(InferMessage* message, TensorForms* forms) {
  thread_->Check();
  absl::Status status = wire_.Read(message_.view(), source_.context->message_bytes, message);
  if (status.ok()) *forms = wire_.forms();
  return status;
}

absl::Status GrpcStreamRequest::MayUse(absl::string_view model) {
  const DoorContext& context = *source_.context;
  absl::Status status =
      context.gate->MayUse(*source_.call, kModelStreamInferAccess, model, source_.grant);
  if (status.ok()) status = context.open_infer_calls->EnterBeside(*source_.place, &place);
  if (status.ok()) status = place.BelongTo(model);
  if (!status.ok()) place.Leave();  // the stream's bounds hold its error
  return status;
}

void GrpcStreamRequest::GiveBack() {
  const size_t bytes = std::exchange(held_bytes_, 0);
  if (bytes > 0) source_.answers->Freed(bytes);
}

void GrpcStreamRequest::DropPayloads() {
  thread_->Check();
  wire_.DropBuffers();
  message_ = GrpcPiece();
  inflation_.Clear();
  GiveBack();
}

absl::Status GrpcStreamRequest::Hold(GrpcAnswer* answer) const {
  return HoldUnread(*source_.context, source_.call->peer(), answer->bytes.size(), &answer->held);
}

absl::Status GrpcStreamRequest::Write(const Answer& answer, bool is_last) {
  ReplyHead head = exchange_.HeadOf(is_last);
  written_ = {GrpcBody(), nullptr};
  AppendStreamReply(head, answer, &written_.bytes);
  absl::Status status = Hold(&written_);
  if (!status.ok() && answer.outputs.empty()) {
    head.id = "";
    written_.bytes = GrpcBody();
    AppendStreamReply(head, answer, &written_.bytes);
    status = absl::OkStatus();
  }
  EndGrpcMessage(&written_.bytes);
  return status;
}

void GrpcStreamRequest::SendPart() {
  source_.answers->AnsweredInPart(this, std::exchange(written_, {}));
}

void GrpcStreamRequest::SendLast() {
  source_.answers->Answered(this, std::exchange(written_, {}), {});
}

void GrpcStreamRequest::SendNoMore() { source_.answers->Answered(this, {}, EmptyFinal()); }

// A request without a model counts for none. A large id is left out if the client has left too much
// unread.
void GrpcStreamRequest::SendError(const absl::Status& status) {
  if (exchange_.request().model == nullptr) place.BelongToNone();
  const std::string text = CutToHeaderLimit(status.message());
  GrpcAnswer error{GrpcBody(), nullptr};
  AppendStreamError(text, exchange_.message().id, &error.bytes);
  if (!Hold(&error).ok()) {
    error.bytes = GrpcBody();
    AppendStreamError(text, "", &error.bytes);
  }
  EndGrpcMessage(&error.bytes);
  const bool has_several = IsDecoupled(exchange_.request());
  source_.answers->Answered(this, std::move(error), has_several ? EmptyFinal() : GrpcAnswer());
}

// Empty unless the client wants to be told.
GrpcAnswer GrpcStreamRequest::EmptyFinal() {
  if (!exchange_.message().wants_final_flag) return {};
  const absl::Status status = Write(Answer(), /*is_last=*/true);
  MPSD_CHECK(status.ok());  // without an output it is always written
  return std::exchange(written_, {});
}

void GrpcStreamRequest::Clear() {
  thread_->Check();
  exchange_.Clear();
  wire_.Clear();
  DropPayloads();
  written_ = {};
}

}  // namespace mpsd
