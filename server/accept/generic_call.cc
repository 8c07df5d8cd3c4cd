#include "server/accept/generic_call.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "server/wire/call_deadline.h"
#include "server/wire/named_model.h"
#include "server/wire/status_map.h"

namespace mpsd {
namespace {

std::string Joined(const grpc::ByteBuffer& bytes) {
  std::string joined;
  std::vector<grpc::Slice> slices;
  if (!bytes.Dump(&slices).ok()) return joined;
  for (const grpc::Slice& slice : slices) {
    joined.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return joined;
}

grpc::ByteBuffer Buffer(const std::string& text) {
  const grpc::Slice slice(text);
  return grpc::ByteBuffer(&slice, 1);
}

}  // namespace

GenericCall::GenericCall(const GenericCallContext* context)
    : context_(context), thread_(context->thread) {
  context_->live_calls->fetch_add(1, std::memory_order_relaxed);
}

GenericCall::~GenericCall() { context_->live_calls->fetch_sub(1, std::memory_order_release); }

void GenericCall::Arm() {
  rpc_.server.AsyncNotifyWhenDone(&done_);
  context_->service->RequestCall(&rpc_.server, &rpc_.stream, context_->queue, context_->queue,
                                 &arrived_);
}

void GenericCall::Arrived(bool ok) {
  thread_->Check();
  if (!ok) {
    delete this;
    return;
  }
  (new GenericCall(context_))->Arm();
  tags_out_ = 2;
  context_->metrics->open_calls.fetch_add(1, std::memory_order_relaxed);
  Enter();
}

void GenericCall::Enter() {
  access_ = &AccessOf(rpc_.server.method());
  const std::string peer = rpc_.server.peer();
  connection_.Begin(peer);
  absl::Status entered = context_->open_calls->Enter(peer, &place_);
  place_.BelongToNone();
  if (entered.ok()) entered = context_->gate->Enter(&rpc_.server, *access_, &grant_);
  if (!entered.ok()) return Finish(entered);
  method_ = context_->methods->Find(rpc_.server.method());
  if (method_ == nullptr) {
    Finish(absl::UnimplementedError(absl::StrCat("unknown method ", rpc_.server.method())));
    return;
  }
  rpc_.stream.Read(&rpc_.bytes, &read_);
}

void GenericCall::Read(bool ok) {
  thread_->Check();
  if (!ok) {
    const bool said_all = method_->kind == MethodTable::Kind::kConversation;
    Finish(said_all ? absl::OkStatus() : absl::InvalidArgumentError("the call carries no request"));
    return;
  }
  if (inflation_.Begin(context_->inflaters, context_->queue, &rpc_.bytes, &inflated_,
                       [this] { return rpc_.server.peer(); })) {
    return;
  }
  Serve();
}

void GenericCall::Inflated(bool) {
  thread_->Check();
  inflation_.status().ok() ? Serve() : Finish(inflation_.status());
}

void GenericCall::Serve() {
  if (rpc_.bytes.Length() > kMaxRequestBytes) {
    rpc_.bytes.Clear();
    return Finish(absl::ResourceExhaustedError(
        absl::StrCat("a request of this method has at most ", kMaxRequestBytes, " bytes")));
  }
  // The buffer stays: its bytes count against limits.buffered while the call lasts.
  request_ = Joined(rpc_.bytes);
  if (absl::Status status = CheckModel(); !status.ok()) return Finish(status);
  last_response_.clear();
  if (method_->kind == MethodTable::Kind::kUnary) return Answer();
  if (method_->kind == MethodTable::Kind::kDeferred) return Defer();
  if (!lasts_) {
    lasts_ = true;
    context_->streams->Add(this);
  }
  method_->kind == MethodTable::Kind::kWatched ? Watch() : AnswerOne();
}

// Whether the caller may use the method with the model that the request names.
absl::Status GenericCall::CheckModel() {
  if (access_->model_field == 0) return absl::OkStatus();
  const std::optional<absl::string_view> model = TextField(request_, access_->model_field);
  if (!model.has_value()) {
    return absl::InvalidArgumentError("the bytes are not a request of this method");
  }
  return context_->gate->MayUse(&rpc_.server, *access_, *model, &grant_);
}

CallerInfo GenericCall::Caller() { return {rpc_.server.peer(), ConnectionOf(&rpc_.server)}; }

void GenericCall::Answer() { Respond(method_->unary(Caller(), request_, &last_response_)); }

// The call lives until the answer comes. The answering thread writes it here and wakes the queue.
void GenericCall::Defer() {
  method_->deferred(Caller(), request_, [this](const absl::Status& status, std::string response) {
    deferred_status_ = status;
    last_response_ = std::move(response);
    rpc_.answer_alarm.Set(context_->queue, gpr_now(GPR_CLOCK_MONOTONIC), &answered_);
  });
}

void GenericCall::Answered(bool) {
  thread_->Check();
  Respond(deferred_status_);
}

void GenericCall::Respond(const absl::Status& status) {
  if (!status.ok()) {
    Finish(status);
    return;
  }
  MPSD_CHECK(!finishing_);
  finishing_ = true;
  rpc_.stream.WriteAndFinish(Buffer(last_response_), grpc::WriteOptions(), grpc::Status::OK,
                             &finished_);
}

void GenericCall::AnswerOne() {
  const absl::Status status = method_->unary(Caller(), request_, &last_response_);
  if (!status.ok()) {
    Finish(status);
    return;
  }
  rpc_.stream.Write(Buffer(last_response_), &written_);
}

void GenericCall::Watch() {
  const uint64_t state = method_->state();  // read first: a change after it wakes the call
  std::string response;
  const absl::Status status = method_->unary(Caller(), request_, &response);
  if (!status.ok() || over_ || context_->stopping->load()) {
    Finish(status.ok() ? absl::UnavailableError("Server exiting") : status);
    return;
  }
  // The first response is always sent, even without bytes: the byte appended here tells it from
  // none.
  const bool first = last_response_.empty();
  response.push_back('\0');
  if (!first && response == last_response_) {
    context_->watchers->Add(&woken_, method_, state, context_->queue);
    return;
  }
  last_response_ = response;
  response.pop_back();
  rpc_.stream.Write(Buffer(response), &written_);
}

void GenericCall::Written(bool ok) {
  thread_->Check();
  if (!ok) over_ = true;
  if (method_->kind == MethodTable::Kind::kWatched) return Watch();
  if (over_ || context_->stopping->load()) return Finish(absl::UnavailableError("Server exiting"));
  rpc_.stream.Read(&rpc_.bytes, &read_);
}

void GenericCall::Woken(bool) {
  thread_->Check();
  Watch();
}

void GenericCall::Finish(const absl::Status& status) {
  MPSD_CHECK(!finishing_);
  finishing_ = true;
  rpc_.stream.Finish(ToGrpcStatus(status, StatusStyle::kOwn), &finished_);
}

void GenericCall::Finished(bool) {
  thread_->Check();
  TagBack();
}

void GenericCall::Done(bool) {
  thread_->Check();
  over_ = true;
  if (rpc_.server.IsCancelled()) connection_.Cancelled(HasPassed(rpc_.server.raw_deadline()));
  inflation_.Drop();
  if (context_->watchers->Remove(&woken_)) Watch();
  TagBack();
}

void GenericCall::TagBack() {
  MPSD_CHECK(tags_out_ > 0);
  if (--tags_out_ > 0) return;
  context_->metrics->open_calls.fetch_sub(1, std::memory_order_relaxed);
  if (lasts_) context_->streams->Remove(this);
  delete this;
}

}  // namespace mpsd
