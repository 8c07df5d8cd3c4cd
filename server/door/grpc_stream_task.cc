#include "server/door/grpc_stream_task.h"

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "proto/base/check.h"
#include "proto/base/limits.h"
#include "server/bodies/grpc/call_deadline.h"
#include "server/door/body_fault.h"
#include "server/door/call_trace.h"
#include "server/door/grpc_form.h"
#include "server/door/grpc_web.h"

namespace mpsd {
namespace {

// Smaller answers that are ready go out together.
constexpr size_t kJoinedBytes = 16 << 10;

absl::Status Untaken() {
  return absl::DeadlineExceededError("the stream's answers were not read in time");
}

}  // namespace

GrpcStreamTask::GrpcStreamTask(const DoorContext* context, HttpCall* call, Entry entry)
    : context_(context),
      thread_(context->exchange.thread),
      call_(call),
      kind_(entry.kind),
      trace_(TraceOf(call->request())),
      end_ns_(entry.end_ns),
      place_(std::move(entry.place)),
      grant_(std::move(entry.grant)),
      source_{context, call, entry.coding, &grant_, &place_, this},
      messages_(context->message_bytes, entry.coding) {
  context_->exchange.metrics->open_calls.fetch_add(1, std::memory_order_relaxed);
  if (kind_ == GrpcKind::kOwn) call_->StreamBody(end_ns_);
}

void GrpcStreamTask::BodyGrew() {
  thread_->Check();
  ReadOn();
}

void GrpcStreamTask::Serve(BodyEnd body) {
  thread_->Check();
  body_ended_ = true;
  if (body != BodyEnd::kWhole) return End(FaultOf(body).status);
  if (kind_ != GrpcKind::kOwn) {
    absl::StatusOr<std::string> bytes = GrpcBodyOf(kind_, call_);
    if (!bytes.ok()) return End(bytes.status());
    messages_.Add(*std::move(bytes));
  }
  ReadOn();
}

// A message that the body's end cuts short is none.
void GrpcStreamTask::ReadOn() {
  while (inflating_ == nullptr && MayRead()) {
    absl::StatusOr<std::optional<GrpcPiece>> message = messages_.NextOf(call_);
    if (!message.ok()) return End(message.status());
    if (!message->has_value()) return body_ended_ ? ReadAll() : void();
    TakeMessage(**std::move(message));
  }
}

bool GrpcStreamTask::MayRead() {
  if (held_bytes_ > kMaxStreamHeldBytes) ClearAnswered();
  absl::MutexLock lock(&mu_);
  if (read_all_ || broken_ || ending_ || finishing_) return false;
  waits_for_room_ = IsFull() || held_bytes_ > kMaxStreamHeldBytes;
  return !waits_for_room_;
}

void GrpcStreamTask::Freed(size_t bytes) {
  thread_->Check();
  held_bytes_ -= bytes;
  call_->DropBytes(bytes);
}

bool GrpcStreamTask::IsFull() const {
  return unanswered_ + outbox_.size() + writing_.size() >= kMaxStreamRequests;
}

void GrpcStreamTask::ReadAll() {
  absl::MutexLock lock(&mu_);
  read_all_ = true;
  FinishIfOver();
}

void GrpcStreamTask::TakeMessage(GrpcPiece message) {
  // A page's body counts as held until the call is over.
  if (kind_ != GrpcKind::kOwn) message.wire_bytes = 0;
  GrpcStreamRequest* const request = TakeRequest();
  held_bytes_ += message.wire_bytes;
  {
    absl::MutexLock lock(&mu_);
    ++unanswered_;
  }
  if (request->Take(std::move(message), [this, request] { Inflated(request); })) {
    inflating_ = request;
  } else {
    Begin(request, absl::OkStatus());
  }
}

void GrpcStreamTask::Inflated(GrpcStreamRequest* request) {
  thread_->Check();
  inflating_ = nullptr;
  Begin(request, request->arrived());
}

GrpcStreamRequest* GrpcStreamTask::TakeRequest() {
  ClearAnswered();
  if (free_requests_.empty()) {
    requests_.push_back(std::make_unique<GrpcStreamRequest>(source_));
    return requests_.back().get();
  }
  GrpcStreamRequest* const request = free_requests_.back();
  free_requests_.pop_back();
  return request;
}

// An answered request keeps its model until it is cleared.
void GrpcStreamTask::ClearAnswered() {
  {
    absl::MutexLock lock(&mu_);
    clearing_.swap(answered_);
  }
  for (GrpcStreamRequest* request : clearing_) request->Clear();
  free_requests_.insert(free_requests_.end(), clearing_.begin(), clearing_.end());
  clearing_.clear();
}

// A message that was inflated for nobody cannot be read.
void GrpcStreamTask::Begin(GrpcStreamRequest* request, absl::Status arrived) {
  InferExchange& exchange = request->exchange();
  const int64_t now_ns = context_->exchange.clock->NowNs();
  const CallDeadline deadline = end_ns_ == kNoDeadlineNs
                                    ? DefaultDeadline(now_ns, context_->default_deadline_ns)
                                    : CallDeadline{std::min(end_ns_, now_ns + kMaxTimeoutNs), 0};
  exchange.Begin({now_ns, deadline.at_ns, &trace_, deadline.patience_ns});
  if (ended_) exchange.ClientLeft();
  absl::Status status = exchange.CheckAwaited(now_ns);
  if (status.ok()) status = std::move(arrived);
  if (status.ok()) status = exchange.Read();
  {
    absl::MutexLock lock(&mu_);
    request->apart = false;
    lines_.Join(exchange.message().model, request);
  }
  exchange.Admit(status);
}

void GrpcStreamTask::Resume(GrpcStreamRequest* request) {
  absl::MutexLock lock(&mu_);
  resumed_.push_back(request);
  call_->Resume();
}

void GrpcStreamTask::Resumed() {
  thread_->Check();
  GrpcStreamRequest* request = nullptr;
  {
    absl::MutexLock lock(&mu_);
    MPSD_CHECK(!resumed_.empty());
    request = resumed_.front();
    resumed_.pop_front();
  }
  if (request != nullptr) request->Resumed();
  ReadOn();
  absl::MutexLock lock(&mu_);
  FinishIfOver();
}

void GrpcStreamTask::Answered(GrpcStreamRequest* request, GrpcAnswer response,
                              GrpcAnswer final_response) {
  absl::MutexLock lock(&mu_);
  request->response = std::move(response);
  request->final_response = std::move(final_response);
  Release(request->apart ? request : lines_.Answered(request));
  WriteNext();
  ReadOnIfRoom();  // an answer without bytes makes room at once
  FinishIfOver();
}

// The requests of this chain by `next` may leave.
void GrpcStreamTask::Release(GrpcStreamRequest* first) {
  for (GrpcStreamRequest* leaving = first; leaving != nullptr; leaving = leaving->next) {
    MPSD_CHECK(unanswered_ > 0);
    --unanswered_;
    OpenCalls::Place place = std::move(leaving->place);
    const int64_t deadline_ns = leaving->exchange().request().deadline_ns;
    for (GrpcAnswer* message : {&leaving->response, &leaving->final_response}) {
      GrpcAnswer leaves = std::exchange(*message, {});
      if (leaves.bytes.empty()) continue;
      PutOut({std::move(leaves), nullptr, std::move(place), deadline_ns});
    }
    answered_.push_back(leaving);
  }
}

void GrpcStreamTask::PutOut(Outgoing outgoing) {
  if (!broken_) outbox_.push_back(std::move(outgoing));
}

void GrpcStreamTask::AnsweredInPart(GrpcStreamRequest* request, GrpcAnswer response) {
  {
    absl::MutexLock lock(&mu_);
    if (!request->apart) {
      request->apart = true;
      Release(lines_.Leave(request));
    }
    PutOut({std::move(response), request, {}, request->exchange().request().deadline_ns});
    WriteNext();
    if (!broken_) return;
  }
  request->exchange().StopAnswers();
}

// An answer has made room: the connection's thread reads on.
void GrpcStreamTask::ReadOnIfRoom() {
  if (!waits_for_room_ || IsFull() || broken_ || ending_) return;
  waits_for_room_ = false;
  resumed_.push_back(nullptr);
  call_->Resume();
}

void GrpcStreamTask::WriteNext() {
  if (!writing_.empty() || outbox_.empty() || broken_) return;
  MPSD_CHECK(!finishing_);
  call_->ReplyPart(TakePart());
}

// With the small ones behind it.
HttpReply GrpcStreamTask::TakePart() {
  HttpReply part(200, kGrpcType, "");
  if (!std::exchange(has_parts_, true)) EchoTrace(trace_, &part);
  int64_t deadline_ns = INT64_MAX;
  do {
    writing_.push_back(std::move(outbox_.front()));
    outbox_.pop_front();
    std::string* const bytes = &writing_.back().message.bytes;
    part.body.empty() ? part.body.swap(*bytes) : void(part.body.append(*bytes));
    deadline_ns = std::min(deadline_ns, writing_.back().deadline_ns);
  } while (!outbox_.empty() &&
           part.body.size() + outbox_.front().message.bytes.size() <= kJoinedBytes);
  ToWeb(kind_, &part);
  part.taken_by_ns = std::max(context_->exchange.clock->NowNs(), deadline_ns) + kUntakenAnswerNs;
  return part;
}

void GrpcStreamTask::PartTaken(bool taken) {
  thread_->Check();
  ClearAnswered();
  {
    absl::MutexLock lock(&mu_);
    MPSD_CHECK(!writing_.empty());
    for (const Outgoing& written : writing_) {
      if (written.part_of != nullptr) written_parts_.push_back(written.part_of);
    }
    writing_.clear();
    broken_ = broken_ || !taken;
    WriteNext();
  }
  if (!taken) return End(left_ ? absl::OkStatus() : Untaken());
  ContinueWritten();
  ReadOn();
  absl::MutexLock lock(&mu_);
  FinishIfOver();
}

// For requests whose answer was written or dropped.
void GrpcStreamTask::ContinueWritten() {
  {
    absl::MutexLock lock(&mu_);
    continuing_.swap(written_parts_);
  }
  for (GrpcStreamRequest* request : continuing_) request->exchange().Continue();
  continuing_.clear();
}

// If the client is still there, its deadline has passed.
void GrpcStreamTask::ClientLeft() {
  thread_->Check();
  left_ = true;
  End(absl::DeadlineExceededError("Deadline Exceeded"));
}

// Only this thread begins and clears requests, so none changes hands.
void GrpcStreamTask::End(const absl::Status& status) {
  {
    absl::MutexLock lock(&mu_);
    fault_.Update(status);
    broken_ = true;
  }
  ended_ = true;
  if (inflating_ != nullptr) inflating_->DropInflation();
  for (const std::unique_ptr<GrpcStreamRequest>& request : requests_) {
    request->exchange().ClientLeft();
  }
  {
    absl::MutexLock lock(&mu_);
    for (const Outgoing& dropped : outbox_) {
      if (dropped.part_of != nullptr) written_parts_.push_back(dropped.part_of);
    }
    outbox_.clear();
  }
  ContinueWritten();
  absl::MutexLock lock(&mu_);
  FinishIfOver();
}

void GrpcStreamTask::EndSoon() {
  absl::MutexLock lock(&mu_);
  ending_ = true;
  FinishIfOver();
}

void GrpcStreamTask::FinishIfOver() {
  const bool no_more = read_all_ || broken_ || ending_;
  const bool is_busy =
      unanswered_ > 0 || !outbox_.empty() || !writing_.empty() || !resumed_.empty();
  if (finishing_ || !no_more || is_busy) return;
  finishing_ = true;
  HttpReply last = GrpcLast(Ending(), context_->style, has_parts_);
  if (!has_parts_) EchoTrace(trace_, &last);
  ToWeb(kind_, &last);
  call_->Reply(std::move(last));
}

absl::Status GrpcStreamTask::Ending() const {
  if (!fault_.ok()) return fault_;
  const bool is_cut = ending_ && !read_all_;
  return is_cut ? absl::UnavailableError("Server exiting") : absl::OkStatus();
}

// The thread that gave the reply may still hold the mutex.
void GrpcStreamTask::Over() {
  thread_->Check();
  { absl::MutexLock lock(&mu_); }
  context_->exchange.metrics->open_calls.fetch_sub(1, std::memory_order_relaxed);
  delete this;
}

}  // namespace mpsd
