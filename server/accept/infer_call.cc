#include "server/accept/infer_call.h"

#include <deque>

#include "server/accept/answer_wishes.h"
#include "server/accept/call_endings.h"
#include "server/request/served_model.h"
#include "server/telemetry/model_metrics.h"
#include "server/wire/call_deadline.h"
#include "server/wire/reply_wire.h"
#include "server/wire/status_map.h"

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
  grant_ = Grant();
  absl::Status status = context_->gate->Enter(&rpc_->server, kModelInferAccess, &grant_);
  if (status.ok()) status = CheckInTime(request_, request_.arrival_ns);
  if (status.ok() &&
      inflation_.Begin(context_->inflaters, context_->queue, &rpc_->bytes, &inflated_)) {
    return;
  }
  Serve(status);
}

void InferCall::Inflated(bool) {
  absl::Status status = CheckInTime(request_, context_->clock->NowNs());
  if (status.ok()) status = CheckNotCancelled();
  Serve(status.ok() ? inflation_.status() : status);
}

// Its message is plain and all there, or the status says why it is not looked at.
void InferCall::Serve(const absl::Status& arrived) {
  absl::Status status = arrived;
  if (status.ok()) status = wire_.Read(rpc_->bytes, context_->message_bytes, &message_);
  if (status.ok()) {
    status = context_->gate->MayUse(&rpc_->server, kModelInferAccess, message_.model, &grant_);
  }
  if (status.ok()) status = LoadRegions();
  if (status.ok() && regions_.awaits_device()) {
    status = device_load_.Begin(*context_, request_.deadline_ns, &regions_, &loaded_);
    if (status.ok()) return;
  }
  Admit(status);
}

void InferCall::Loaded(bool) {
  const absl::Status status = CheckNotCancelled();
  Admit(status.ok() ? device_load_.status() : status);
}

// Before anything was sent, Done is back only if the call was cancelled.
absl::Status InferCall::CheckNotCancelled() const {
  return tags_out_ < 2 ? CallCancelled() : absl::OkStatus();
}

void InferCall::Admit(const absl::Status& status) {
  if (!status.ok()) {
    request_.reply.Fail(status);
    return;
  }
  if (!context_->handler->Handle(message_, &request_)) return;
  // The payloads lie in the request's rows, and what is left of the message counts against what may
  // be on its way to us.
  wire_.DropBuffers();
  regions_.DropInputs();
  rpc_->bytes.Clear();
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
  const absl::Status status = GrantWishes(wire_, &regions_, batches, &answer, &storage);
  if (!status.ok()) return Fail(status);
  regions_.has_device_outputs() ? SendWhenStored(answer) : SendAll(answer);
}

void InferCall::SendAll(const Answer& answer) {
  const absl::StatusOr<grpc::ByteBuffer> bytes = Write(answer);
  if (!bytes.ok()) return Fail(bytes.status());
  TellEnded(absl::StatusCode::kOk);
  // After this the other threads may be done with the call: nothing of it is touched any more.
  rpc_->writer.Finish(*bytes, grpc::Status::OK, &finished_);
}

absl::StatusOr<grpc::ByteBuffer> InferCall::Write(const Answer& answer) {
  const ReplyHead head{message_.model, request_.model->version, message_.id,
                       message_.wants_final_flag};
  ReplyPeer peer;
  if (HasLargeOutput(answer)) peer = {context_->pins, context_->clock, rpc_->server.peer()};
  return WriteReply(head, answer, peer, request_.metrics, &scratch_);
}

// Once it is queued the call may be over at any time.
void InferCall::SendWhenStored(const Answer& answer) {
  const absl::StatusOr<grpc::ByteBuffer> bytes = Write(answer);
  if (!bytes.ok()) return Fail(bytes.status());
  const absl::Status queued =
      context_->regions->copier()->Enqueue([this, bytes = *bytes] { Stored(bytes); });
  if (!queued.ok()) Fail(queued);
}

void InferCall::Stored(const grpc::ByteBuffer& bytes) {
  if (absl::Status status = regions_.StoreToDevice(); !status.ok()) return Fail(status);
  TellEnded(absl::StatusCode::kOk);
  rpc_->writer.Finish(bytes, grpc::Status::OK, &finished_);
}

void InferCall::Fail(const absl::Status& status) {
  TellEnded(status.code());
  rpc_->writer.FinishWithError(ToGrpcStatus(status, context_->style), &finished_);
}

void InferCall::TellEnded(absl::StatusCode code) {
  CountEnding(request_, code, context_->metrics, context_->clock);
  TellEnding(request_, message_, code, trace_, traced_, context_->observers, context_->clock);
}

void InferCall::Finished(bool) { TagBack(); }

void InferCall::Done(bool) {
  inflation_.Drop();
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
