#include "server/accept/infer_call.h"

#include <deque>

#include "server/accept/answer_wishes.h"
#include "server/accept/call_deadline.h"
#include "server/accept/call_endings.h"
#include "server/accept/reply_wire.h"
#include "server/accept/status_map.h"
#include "server/request/served_model.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {
InferCall::InferCall(const InferCallContext* context) : context_(context) {
  context_->live_calls->fetch_add(1, std::memory_order_relaxed);
}

void InferCall::Arm() {
  rpc_.emplace();
  rpc_->server.AsyncNotifyWhenDone(&done_);
  context_->service->Request(&rpc_->server, &rpc_->bytes, &rpc_->writer, context_->queue,
                             &arrived_);
}

void InferCall::Arrived(bool ok) {
  if (!ok) {
    delete this;
    return;
  }
  tags_out_ = 2;
  context_->metrics->open_calls.fetch_add(1, std::memory_order_relaxed);
  request_.arrival_ns = context_->clock->NowNs();
  request_.deadline_ns = MonotonicDeadlineNs(rpc_->server.raw_deadline(), request_.arrival_ns);
  request_.reply = Reply(this);
  trace_ = TakeTraceContext(&rpc_->server);
  traced_ = context_->observers.WantTrace(trace_);
  Grant grant;
  absl::Status status = context_->gate->Enter(&rpc_->server, kModelInferAccess, &grant);
  if (status.ok()) status = wire_.Read(rpc_->bytes, &message_);
  if (status.ok()) {
    status = context_->gate->MayUse(&rpc_->server, kModelInferAccess, message_.model, &grant);
  }
  if (status.ok()) status = LoadRegions();
  if (!status.ok()) {
    request_.reply.Fail(status);
    return;
  }
  context_->handler->Handle(message_, &request_);
}

absl::Status InferCall::LoadRegions() {
  if (wire_.regions().empty()) return absl::OkStatus();
  return regions_.Load(wire_.regions(), ConnectionOf(&rpc_->server), context_->regions, &message_);
}

void InferCall::Send(const Answer& answer) {
  if (HasWishes(wire_, regions_)) return SendAsWished(answer);
  SendAll(answer);
}

void InferCall::SendAsWished(Answer answer) {
  std::deque<std::string> storage;
  const bool batches = request_.model->spec.batches();
  const absl::Status status = GrantWishes(wire_, regions_, batches, &answer, &storage);
  status.ok() ? SendAll(answer) : Fail(status);
}

void InferCall::SendAll(const Answer& answer) {
  TellEnded(absl::StatusCode::kOk);
  const ReplyHead head{message_.model, request_.model->version, message_.id,
                       message_.wants_final_flag};
  ReplyPeer peer;
  if (HasLargeOutput(answer)) peer = {context_->pins, context_->clock, rpc_->server.peer()};
  const grpc::ByteBuffer bytes = WriteReply(head, answer, peer, request_.metrics, &scratch_);
  // After this the other threads may be done with the call: nothing of it is touched any more.
  rpc_->writer.Finish(bytes, grpc::Status::OK, &finished_);
}

void InferCall::Fail(const absl::Status& status) {
  TellEnded(status.code());
  rpc_->writer.FinishWithError(ToGrpcStatus(status, context_->style), &finished_);
}

void InferCall::TellEnded(absl::StatusCode code) {
  CountEnding(request_, code, context_->clock);
  TellEnding(request_, message_, code, trace_, traced_, context_->observers, context_->clock);
}

void InferCall::Finished(bool) { TagBack(); }

void InferCall::Done(bool) {
  if (rpc_->server.IsCancelled() && request_.queue != nullptr) request_.queue->Cancel(&request_);
  TagBack();
}

void InferCall::TagBack() {
  if (--tags_out_ > 0) return;
  wire_.Clear();
  regions_.Clear();
  message_.model = message_.version = message_.id = absl::string_view();
  request_.Reset();
  TrimScratch(&scratch_);
  context_->metrics->open_calls.fetch_sub(1, std::memory_order_relaxed);
  Arm();
}

}  // namespace mpsd
