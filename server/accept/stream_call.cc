#include "server/accept/stream_call.h"

#include <grpc/grpc.h>

#include <algorithm>
#include <utility>

#include "proto/base/check.h"
#include "proto/base/limits.h"
#include "server/accept/call_trace.h"
#include "server/wire/call_deadline.h"
#include "server/wire/status_map.h"

namespace mpsd {
namespace {

constexpr char kUntaken[] = "the stream's answers were not read in time";

}  // namespace

StreamCall::StreamCall(const InferCallContext* context)
    : context_(context), thread_(context->exchange.thread) {
  context_->live_calls->fetch_add(1, std::memory_order_relaxed);
}

StreamCall::~StreamCall() { context_->live_calls->fetch_sub(1, std::memory_order_release); }

void StreamCall::Arm() {
  rpc_.server.AsyncNotifyWhenDone(&done_);
  context_->service->RequestStream(&rpc_.server, &rpc_.stream, context_->queue, &arrived_);
}

void StreamCall::Arrived(bool ok) {
  thread_->Check();
  if (!ok) {
    delete this;
    return;
  }
  (new StreamCall(context_))->Arm();
  context_->exchange.metrics->open_calls.fetch_add(1, std::memory_order_relaxed);
  trace_ = TakeTraceContext(&rpc_.server);
  const std::string peer = rpc_.server.peer();
  connection_.Begin(peer);
  absl::Status status = context_->open_stream_calls->Enter(peer, &place_);
  place_.BelongToNone();
  if (status.ok()) {
    status = context_->gate->Enter(&rpc_.server, kModelStreamInferAccess, &grant_);
  }
  if (!status.ok()) return Refuse(status);
  context_->streams->Add(this);  // from here on a stop may end it
  absl::MutexLock lock(&mu_);
  ending_ = ending_ || context_->stopping->load();
  ReadNext();
  FinishIfOver();
}

// Nothing of the stream is read.
void StreamCall::Refuse(const absl::Status& status) {
  absl::MutexLock lock(&mu_);
  finishing_ = true;
  rpc_.stream.Finish(ToGrpcStatus(status, context_->style), &finished_);
}

void StreamCall::Read(bool ok) {
  thread_->Check();
  if (ok && !is_done_ &&
      inflation_.Begin(context_->inflaters, context_->queue, &rpc_.bytes, &inflated_,
                       [this] { return rpc_.server.peer(); })) {
    return;
  }
  Take(ok, absl::OkStatus());
}

void StreamCall::Inflated(bool) {
  thread_->Check();
  Take(true, inflation_.status());
}

// Not ok: no request came. Otherwise `arrived` says whether its bytes can be read.
void StreamCall::Take(bool ok, const absl::Status& arrived) {
  if (ok && !is_done_ && CountIn()) Serve(TakeRequest(), arrived);
  {
    absl::MutexLock lock(&mu_);
    MPSD_CHECK(reading_);
    reading_ = false;
    read_all_ = read_all_ || !ok;
    ReadNext();
    FinishIfOver();
  }
  DeleteIfOver();
}

// The stream waits for one more answer. False if the stream ends: then the request is not served.
bool StreamCall::CountIn() {
  absl::MutexLock lock(&mu_);
  if (finishing_ || ending_) return false;
  ++unanswered_;
  return true;
}

StreamRequest* StreamCall::TakeRequest() {
  ClearAnswered();
  if (free_requests_.empty()) {
    const StreamSource source{context_, &rpc_.server, &rpc_.bytes, &grant_, &place_, this};
    requests_.push_back(std::make_unique<StreamRequest>(source));
    return requests_.back().get();
  }
  StreamRequest* const request = free_requests_.back();
  free_requests_.pop_back();
  return request;
}

// An answered request keeps its model until it is cleared.
void StreamCall::ClearAnswered() {
  {
    absl::MutexLock lock(&mu_);
    clearing_.swap(answered_);
  }
  for (StreamRequest* request : clearing_) request->Clear();
  free_requests_.insert(free_requests_.end(), clearing_.begin(), clearing_.end());
  clearing_.clear();
}

void StreamCall::Serve(StreamRequest* request, const absl::Status& arrived) {
  InferExchange& exchange = request->exchange();
  const int64_t now_ns = context_->exchange.clock->NowNs();
  const CallDeadline deadline =
      MonotonicDeadline(rpc_.server.raw_deadline(), now_ns, context_->default_deadline_ns);
  exchange.Begin({now_ns, deadline.at_ns, &trace_, deadline.patience_ns});
  absl::Status status = exchange.CheckAwaited(now_ns);
  if (status.ok()) status = arrived;
  if (status.ok()) status = exchange.Read();
  rpc_.bytes.Clear();
  {
    absl::MutexLock lock(&mu_);
    request->apart = false;
    lines_.Join(exchange.message().model, request);
  }
  exchange.Admit(status);
}

void StreamCall::ReadNext() {
  const bool full = unanswered_ + outbox_.size() >= kMaxStreamRequests;
  if (full || reading_ || read_all_ || broken_ || ending_) return;
  reading_ = true;
  rpc_.stream.Read(&rpc_.bytes, &read_);
}

void StreamCall::Answered(StreamRequest* request, grpc::ByteBuffer response,
                          grpc::ByteBuffer final_response) {
  absl::MutexLock lock(&mu_);
  request->response = std::move(response);
  request->final_response = std::move(final_response);
  Release(request->apart ? request : lines_.Answered(request));
  WriteNext();
  ReadNext();  // an answer without bytes makes room at once
  FinishIfOver();
}

// The requests of this chain by `next` may leave.
void StreamCall::Release(StreamRequest* first) {
  for (StreamRequest* leaving = first; leaving != nullptr; leaving = leaving->next) {
    MPSD_CHECK(unanswered_ > 0);
    --unanswered_;
    OpenCalls::Place place = std::move(leaving->place);
    const int64_t deadline_ns = leaving->exchange().request().deadline_ns;
    for (grpc::ByteBuffer* bytes : {&leaving->response, &leaving->final_response}) {
      if (bytes->Valid() && !broken_) {
        outbox_.push_back({std::move(*bytes), nullptr, std::move(place), deadline_ns});
      }
      bytes->Clear();
    }
    answered_.push_back(leaving);
  }
}

void StreamCall::AnsweredInPart(StreamRequest* request, grpc::ByteBuffer response) {
  {
    absl::MutexLock lock(&mu_);
    if (!request->apart) {
      request->apart = true;
      Release(lines_.Leave(request));
    }
    const int64_t deadline_ns = request->exchange().request().deadline_ns;
    if (!broken_) outbox_.push_back({std::move(response), request, {}, deadline_ns});
    WriteNext();
    if (!broken_) return;
  }
  request->exchange().StopAnswers();
}

// Nothing can be written any more.
void StreamCall::DropOutbox() {
  for (const Outgoing& dropped : outbox_) {
    if (dropped.part_of != nullptr) written_parts_.push_back(dropped.part_of);
  }
  outbox_.clear();
}

// Asks for the next answer of requests whose answer was written or dropped.
void StreamCall::ContinueWritten() {
  {
    absl::MutexLock lock(&mu_);
    continuing_.swap(written_parts_);
  }
  for (StreamRequest* request : continuing_) request->exchange().Continue();
  continuing_.clear();
}

// Holds a write back if another one follows, so that both go to the socket together. Not the first
// one: it carries the initial metadata, and its tag comes only after that is sent.
void StreamCall::WriteNext() {
  if (writing_ || outbox_.empty()) return;
  MPSD_CHECK(!finishing_);
  grpc::WriteOptions options;
  if (has_written_ && outbox_.size() > 1) options.set_buffer_hint();
  has_written_ = true;
  writing_ = true;
  writing_part_of_ = outbox_.front().part_of;
  writing_place_ = std::move(outbox_.front().place);
  const int64_t now_ns = context_->exchange.clock->NowNs();
  cut_at_ns_ = std::max(now_ns, outbox_.front().deadline_ns) + kUntakenAnswerNs;
  rpc_.stream.Write(outbox_.front().bytes, options, &written_);
  outbox_.pop_front();
}

void StreamCall::Written(bool ok) {
  thread_->Check();
  ClearAnswered();
  {
    absl::MutexLock lock(&mu_);
    MPSD_CHECK(writing_);
    writing_ = false;
    writing_place_.Leave();
    StreamRequest* const written = std::exchange(writing_part_of_, nullptr);
    if (written != nullptr) written_parts_.push_back(written);
    broken_ = broken_ || !ok;
    if (broken_) DropOutbox();
    WriteNext();
    ReadNext();
    FinishIfOver();
  }
  ContinueWritten();
  DeleteIfOver();
}

void StreamCall::FinishIfOver() {
  const bool no_more = read_all_ || broken_ || ending_;
  if (finishing_ || !no_more || unanswered_ > 0 || !outbox_.empty() || writing_) return;
  finishing_ = true;
  const bool cut = ending_ && !read_all_;
  const grpc::Status exiting(grpc::StatusCode::UNAVAILABLE, "Server exiting");
  rpc_.stream.Finish(cut ? exiting : grpc::Status::OK, &finished_);
}

void StreamCall::EndSoon() {
  absl::MutexLock lock(&mu_);
  ending_ = true;
  FinishIfOver();
}

// Done follows, as if the client had cancelled the call.
void StreamCall::CutIfUntaken(int64_t now_ns) {
  absl::MutexLock lock(&mu_);
  if (!writing_ || now_ns < cut_at_ns_) return;
  cut_at_ns_ = INT64_MAX;
  context_->exchange.metrics->untaken_answers.fetch_add(1, std::memory_order_relaxed);
  grpc_call_cancel_with_status(rpc_.server.c_call(), GRPC_STATUS_DEADLINE_EXCEEDED, kUntaken,
                               nullptr);
}

void StreamCall::Finished(bool) {
  thread_->Check();
  is_finished_ = true;
  DeleteIfOver();
}

void StreamCall::Done(bool) {
  thread_->Check();
  is_done_ = true;
  inflation_.Drop();
  if (rpc_.server.IsCancelled()) {
    connection_.Cancelled(HasPassed(rpc_.server.raw_deadline()));
    Cancel();
  }
  ContinueWritten();
  DeleteIfOver();
}

// Only this thread begins and clears requests, so none changes hands meanwhile.
void StreamCall::Cancel() {
  for (const std::unique_ptr<StreamRequest>& request : requests_) request->exchange().ClientLeft();
  absl::MutexLock lock(&mu_);
  broken_ = true;
  DropOutbox();
  FinishIfOver();
}

// The last tag may be back.
void StreamCall::DeleteIfOver() {
  if (!is_done_ || !is_finished_) return;
  {
    absl::MutexLock lock(&mu_);
    if (reading_) return;
  }
  context_->streams->Remove(this);
  context_->exchange.metrics->open_calls.fetch_sub(1, std::memory_order_relaxed);
  delete this;
}

}  // namespace mpsd
