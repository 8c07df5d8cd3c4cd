#include "server/accept/infer_call.h"

#include <grpc/support/time.h>

#include "proto/base/check.h"
#include "proto/base/limits.h"
#include "server/accept/call_trace.h"
#include "server/accept/infer_calls.h"
#include "server/wire/reply_wire.h"
#include "server/wire/status_map.h"

namespace mpsd {

InferCall::InferCall(const InferCallContext* context, InferCalls* calls)
    : context_(context),
      calls_(calls),
      thread_(context->exchange.thread),
      writer_(context, &WriteReply),
      exchange_(&context->exchange, this, InferExchange::Answers::kOne) {}

InferCall::~InferCall() { MPSD_CHECK(tags_out_ == 0); }

void InferCall::Arm() {
  thread_->Check();
  MPSD_CHECK(tags_out_ == 0);
  rpc_.emplace();
  rpc_->server.AsyncNotifyWhenDone(&done_);
  context_->service->Request(&rpc_->server, &rpc_->bytes, &rpc_->writer, context_->queue,
                             &arrived_);
}

void InferCall::Arrived(bool ok) {
  thread_->Check();
  if (!ok) return calls_->Gone(this);
  MPSD_CHECK(tags_out_ == 0);
  tags_out_ = 2;
  context_->exchange.metrics->open_calls.fetch_add(1, std::memory_order_relaxed);
  const int64_t now_ns = context_->exchange.clock->NowNs();
  const CallDeadline deadline =
      MonotonicDeadline(rpc_->server.raw_deadline(), now_ns, context_->default_deadline_ns);
  calls_->Arrived(this, deadline.at_ns + kUntakenAnswerNs);
  Begin(now_ns, deadline);
  calls_->Arm();  // takes microseconds, while a lane works on this call
}

void InferCall::Begin(int64_t now_ns, const CallDeadline& deadline) {
  trace_ = TakeTraceContext(&rpc_->server);
  exchange_.Begin({now_ns, deadline.at_ns, &trace_, deadline.patience_ns});
  grant_ = Grant();
  const std::string peer = rpc_->server.peer();
  connection_.Begin(peer);
  absl::Status status = context_->open_infer_calls->Enter(peer, &place_);
  if (status.ok()) status = context_->gate->Enter(&rpc_->server, kModelInferAccess, &grant_);
  if (status.ok()) status = exchange_.CheckAwaited(now_ns);
  if (status.ok() && inflation_.Begin(context_->inflaters, context_->queue, &rpc_->bytes,
                                      &inflated_, [this] { return rpc_->server.peer(); })) {
    return place_.BelongToNone();
  }
  exchange_.Admit(status.ok() ? exchange_.Read() : status);
  CountUnadmitted();
}

void InferCall::Inflated(bool) {
  thread_->Check();
  absl::Status status = exchange_.CheckAwaited(context_->exchange.clock->NowNs());
  if (status.ok()) status = inflation_.status();
  exchange_.Admit(status.ok() ? exchange_.Read() : status);
  CountUnadmitted();
}

// A refused request belongs to no model, whatever it names. One that awaits a copy from a device
// stays where it was counted.
void InferCall::CountUnadmitted() {
  const Request& request = exchange_.request();
  if (request.model == nullptr && !request.reply.owed()) place_.BelongToNone();
}

absl::Status InferCall::Read(InferMessage* message, TensorForms* forms) {
  thread_->Check();
  absl::Status status = wire_.Read(rpc_->bytes, context_->message_bytes, message);
  if (status.ok()) *forms = wire_.forms();
  return status;
}

absl::Status InferCall::MayUse(absl::string_view model) {
  thread_->Check();
  const absl::Status status =
      context_->gate->MayUse(&rpc_->server, kModelInferAccess, model, &grant_);
  return status.ok() ? place_.BelongTo(model) : status;
}

// The message's buffers count against the limit of all arriving messages.
void InferCall::DropPayloads() {
  thread_->Check();
  wire_.DropBuffers();
  rpc_->bytes.Clear();
}

void InferCall::Resume() {
  alarm_.emplace();
  alarm_->Set(context_->queue, gpr_now(GPR_CLOCK_MONOTONIC), &resumed_);
}

void InferCall::Resumed(bool) {
  thread_->Check();
  exchange_.Resumed();
  CountUnadmitted();
}

absl::Status InferCall::Write(const Answer& answer, bool is_last) {
  MPSD_CHECK(is_last);
  absl::StatusOr<grpc::ByteBuffer> written =
      writer_.Write(exchange_, rpc_->server, answer, is_last);
  if (written.ok()) response_.Swap(&*written);
  return written.status();
}

// The call may be over, and in use again, before Finish() returns: nothing of it is touched later.
void InferCall::SendLast() {
  grpc::ByteBuffer response;
  response.Swap(&response_);
  rpc_->writer.Finish(response, grpc::Status::OK, &finished_);
}

void InferCall::SendError(const absl::Status& status) {
  rpc_->writer.FinishWithError(ToGrpcStatus(status, context_->style), &finished_);
}

void InferCall::Cancel() {
  thread_->Check();
  rpc_->server.TryCancel();
}

void InferCall::Finished(bool) {
  thread_->Check();
  TagBack();
}

void InferCall::Done(bool) {
  thread_->Check();
  inflation_.Drop();
  if (rpc_->server.IsCancelled()) {
    connection_.Cancelled(HasPassed(rpc_->server.raw_deadline()));
    exchange_.ClientLeft();
  }
  TagBack();
}

void InferCall::TagBack() {
  MPSD_CHECK(tags_out_ > 0);
  if (--tags_out_ > 0) return;
  exchange_.Clear();
  wire_.Clear();
  writer_.Trim();
  response_.Clear();
  place_.Leave();
  connection_.End();
  rpc_.reset();
  context_->exchange.metrics->open_calls.fetch_sub(1, std::memory_order_relaxed);
  calls_->Over(this);
}

}  // namespace mpsd
