#include "server/accept/infer_call.h"

#include <grpc/support/time.h>

#include <algorithm>
#include <utility>

#include "proto/base/limits.h"
#include "server/accept/reply_wire.h"
#include "server/accept/status_map.h"
#include "server/request/served_model.h"

namespace mpsd {
namespace {

constexpr size_t kKeptScratchBytes = 64 << 10;

// The client's deadline on our clock: the default where it has none, never beyond the cap.
int64_t MonotonicDeadlineNs(const grpc::ServerContext& context, int64_t now_ns) {
  const gpr_timespec left =
      gpr_time_sub(gpr_convert_clock_type(context.raw_deadline(), GPR_CLOCK_MONOTONIC),
                   gpr_now(GPR_CLOCK_MONOTONIC));
  const int64_t cap_ns = now_ns + kMaxTimeoutNs;
  if (left.tv_sec >= kMaxTimeoutNs / kNsPerSecond) {
    const bool none = gpr_time_cmp(context.raw_deadline(),
                                   gpr_inf_future(context.raw_deadline().clock_type)) == 0;
    return none ? now_ns + kDefaultTimeoutNs : cap_ns;
  }
  return now_ns + left.tv_sec * kNsPerSecond + left.tv_nsec;
}

}  // namespace

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
  request_.deadline_ns = MonotonicDeadlineNs(rpc_->server, request_.arrival_ns);
  request_.reply = Reply(this);
  const absl::Status status = wire_.Read(rpc_->bytes, &message_);
  if (!status.ok()) {
    request_.reply.Fail(status);
    return;
  }
  context_->handler->Handle(message_, &request_);
}

void InferCall::Send(const Answer& answer) {
  Count(absl::StatusCode::kOk);
  const absl::string_view version = request_.model->version;
  ReplyPeer peer;
  if (HasLargeOutput(answer)) peer = {context_->pins, context_->clock, rpc_->server.peer()};
  const grpc::ByteBuffer bytes =
      WriteReply({message_.model, version, message_.id}, answer, peer, request_.metrics, &scratch_);
  // After this the other threads may be done with the call: nothing of it is touched any more.
  rpc_->writer.Finish(bytes, grpc::Status::OK, &finished_);
}

void InferCall::Fail(const absl::Status& status) {
  Count(status.code());
  rpc_->writer.FinishWithError(ToGrpcStatus(status), &finished_);
}

void InferCall::Count(absl::StatusCode code) {
  if (request_.metrics == nullptr) return;
  const size_t index = std::min<size_t>(static_cast<size_t>(code), kStatusCodes - 1);
  request_.metrics->requests_by_code[index].fetch_add(1, std::memory_order_relaxed);
}

void InferCall::Finished(bool) { TagBack(); }

void InferCall::Done(bool) {
  if (rpc_->server.IsCancelled() && request_.queue != nullptr) request_.queue->Cancel(&request_);
  TagBack();
}

void InferCall::TagBack() {
  if (--tags_out_ > 0) return;
  wire_.Clear();
  request_.Reset();
  if (scratch_.capacity() > kKeptScratchBytes) std::string().swap(scratch_);
  context_->metrics->open_calls.fetch_sub(1, std::memory_order_relaxed);
  Arm();
}

}  // namespace mpsd
