#include "server/door/grpc_lasting_task.h"

#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "server/door/body_fault.h"
#include "server/door/grpc_form.h"
#include "server/door/method_request.h"

namespace mpsd {

GrpcLastingTask::GrpcLastingTask(const DoorContext* context, HttpCall* call, Entry entry)
    : context_(context),
      thread_(context->exchange.thread),
      call_(call),
      entry_(std::move(entry)),
      messages_(context->message_bytes, entry_.coding),
      inflation_(context->inflaters, context->inflate_bounds) {
  context_->exchange.metrics->open_calls.fetch_add(1, std::memory_order_relaxed);
  call_->StreamBody(entry_.end_ns);
}

void GrpcLastingTask::Serve(BodyEnd body) {
  thread_->Check();
  body_ended_ = true;
  if (body != BodyEnd::kWhole) return End(FaultOf(body).status);
  ReadOn();
}

void GrpcLastingTask::ReadOn() {
  thread_->Check();
  while (!is_over_ && !part_out_ && !inflates_ && !has_request_) {
    absl::StatusOr<std::optional<GrpcPiece>> message = messages_.NextOf(call_);
    if (!message.ok()) return End(message.status());
    if (!message->has_value()) return body_ended_ ? EndOfBody() : void();
    TakeMessage(**std::move(message));
  }
}

void GrpcLastingTask::EndOfBody() {
  End(is_watched() ? absl::InvalidArgumentError("the call carries no request") : absl::OkStatus());
}

// A watched method's request counts as held while the call lasts.
void GrpcLastingTask::TakeMessage(GrpcPiece message) {
  if (!message.is_compressed) {
    Ask(std::string(message.view()));
    return is_watched() ? void() : call_->DropBytes(message.wire_bytes);
  }
  inflates_ = true;
  compressed_ = std::move(message);
  inflation_.Begin(entry_.coding, compressed_.view(), call_);
}

void GrpcLastingTask::Resumed() {
  thread_->Check();
  MPSD_CHECK(inflation_.TakeResumed());
  inflates_ = false;
  call_->DropBytes(compressed_.wire_bytes);
  compressed_ = GrpcPiece();
  if (!inflation_.status().ok()) End(inflation_.status());
  if (!is_over_) Ask(inflation_.TakeBytes());
  if (!is_watched()) inflation_.Clear();
  ReplyIfOver();
  ReadOn();
}

void GrpcLastingTask::Ask(std::string request) {
  absl::Status status =
      CheckMethodRequest(*context_, *call_, *entry_.access, request, &entry_.grant);
  if (!status.ok()) return End(status);
  request_ = std::move(request);
  has_request_ = is_watched();
  if (is_periodic()) pause_ns_ = entry_.method->pause(request_);
  if (is_watched()) return Watch();
  std::string response;
  status = Respond(&response);
  status.ok() ? Send(response) : End(status);
}

absl::Status GrpcLastingTask::Respond(std::string* response) {
  return entry_.method->unary({call_->peer(), call_->connection()}, request_, response);
}

// The state is read first: a change after it wakes the call.
void GrpcLastingTask::Watch() {
  if (is_periodic()) return WatchTime();
  const uint64_t state = entry_.method->state();
  std::string response;
  const absl::Status status = Respond(&response);
  if (!status.ok()) return End(status);
  if (has_parts_ && response == last_response_) {
    return context_->watchers->Add(this, entry_.method, state);
  }
  last_response_ = std::move(response);
  Send(last_response_);
}

// A client that takes its responses late gets as many fewer.
void GrpcLastingTask::WatchTime() {
  const int64_t now_ns = context_->exchange.clock->NowNs();
  if (now_ns < next_ns_) return context_->watchers->AddUntil(this, next_ns_);
  next_ns_ = now_ns + pause_ns_;
  std::string response;
  const absl::Status status = Respond(&response);
  status.ok() ? Send(response) : End(status);
}

void GrpcLastingTask::Send(absl::string_view response) {
  part_out_ = has_parts_ = true;
  std::string body = absl::StrCat(GrpcBody(), response);
  EndGrpcMessage(&body);
  call_->ReplyPart(HttpReply(200, kGrpcType, std::move(body)));
}

void GrpcLastingTask::PartTaken(bool taken) {
  thread_->Check();
  part_out_ = false;
  if (!taken) End(absl::DeadlineExceededError("the stream's answers were not read in time"));
  if (is_over_) return ReplyIfOver();
  is_watched() ? Watch() : ReadOn();
}

// If the client is still there, its deadline has passed.
void GrpcLastingTask::ClientLeft() { End(absl::DeadlineExceededError("Deadline Exceeded")); }

void GrpcLastingTask::EndSoon() { End(absl::UnavailableError("Server exiting")); }

// The first ending counts.
void GrpcLastingTask::End(const absl::Status& status) {
  thread_->Check();
  if (!std::exchange(is_over_, true)) ending_ = status;
  context_->watchers->Remove(this);
  inflation_.Drop();
  ReplyIfOver();
}

void GrpcLastingTask::ReplyIfOver() {
  if (!is_over_ || part_out_ || inflates_ || std::exchange(has_replied_, true)) return;
  call_->Reply(GrpcLast(ending_, StatusStyle::kOwn, has_parts_));
}

void GrpcLastingTask::Over() {
  context_->exchange.metrics->open_calls.fetch_sub(1, std::memory_order_relaxed);
  delete this;
}

}  // namespace mpsd
