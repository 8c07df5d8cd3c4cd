#include "server/accept/stream_call.h"

#include <utility>

#include "proto/base/limits.h"
#include "server/wire/call_deadline.h"
#include "server/wire/status_map.h"

namespace mpsd {

StreamCall::StreamCall(const InferCallContext* context) : context_(context) {
  context_->live_calls->fetch_add(1, std::memory_order_relaxed);
}

StreamCall::~StreamCall() { context_->live_calls->fetch_sub(1, std::memory_order_release); }

void StreamCall::Arm() {
  rpc_.server.AsyncNotifyWhenDone(&done_);
  context_->service->RequestStream(&rpc_.server, &rpc_.stream, context_->queue, &arrived_);
}

void StreamCall::Arrived(bool ok) {
  if (!ok) {
    delete this;
    return;
  }
  (new StreamCall(context_))->Arm();
  context_->metrics->open_calls.fetch_add(1, std::memory_order_relaxed);
  trace_ = TakeTraceContext(&rpc_.server);
  const absl::Status status = context_->gate->Enter(&rpc_.server, kModelStreamInferAccess, &grant_);
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
  if (ok && !is_done_ &&
      inflation_.Begin(context_->inflaters, context_->queue, &rpc_.bytes, &inflated_)) {
    return;
  }
  Take(ok, absl::OkStatus());
}

void StreamCall::Inflated(bool) { Take(true, inflation_.status()); }

// Not ok: no request came. Otherwise it is there, or the status says why it is not looked at.
void StreamCall::Take(bool ok, const absl::Status& arrived) {
  if (ok && !is_done_ && CountIn()) Serve(TakeSlot(), arrived);
  {
    absl::MutexLock lock(&mu_);
    reading_ = false;
    read_all_ = read_all_ || !ok;
    ReadNext();
    FinishIfOver();
  }
  DeleteIfOver();
}

// What was answered holds on to its model no longer.
void StreamCall::ClearAnswered() {
  {
    absl::MutexLock lock(&mu_);
    clearing_.swap(answered_slots_);
  }
  for (StreamSlot* slot : clearing_) slot->Clear();
  free_slots_.insert(free_slots_.end(), clearing_.begin(), clearing_.end());
  clearing_.clear();
}

StreamSlot* StreamCall::TakeSlot() {
  ClearAnswered();
  if (free_slots_.empty()) {
    slots_.push_back(std::make_unique<StreamSlot>(this));
    return slots_.back().get();
  }
  StreamSlot* const slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

// From now on the stream waits for one answer more. False: it has been ended.
bool StreamCall::CountIn() {
  absl::MutexLock lock(&mu_);
  if (finishing_) return false;
  ++unanswered_;
  return true;
}

void StreamCall::Serve(StreamSlot* slot, const absl::Status& arrived) {
  Request& request = slot->request;
  request.arrival_ns = context_->clock->NowNs();
  request.deadline_ns = MonotonicDeadlineNs(rpc_.server.raw_deadline(), request.arrival_ns);
  request.reply = Reply(slot);
  slot->traced = context_->observers.WantTrace(trace_);
  absl::Status status = CheckInTime(request, request.arrival_ns);
  if (status.ok()) status = arrived;
  if (status.ok()) {
    status = slot->wire.Read(rpc_.bytes, context_->message_bytes, &slot->message);
  }
  if (status.ok()) {
    status =
        context_->gate->MayUse(&rpc_.server, kModelStreamInferAccess, slot->message.model, &grant_);
  }
  if (status.ok()) status = LoadRegions(slot);
  rpc_.bytes.Clear();
  {
    absl::MutexLock lock(&mu_);
    slot->apart = false;
    lines_.Join(slot->message.model, slot);
  }
  slot->message.takes_many = true;
  if (status.ok() && slot->regions.awaits_device()) {
    status = slot->LoadFromDevice(*context_);
    if (status.ok()) return;
  }
  Admit(slot, status);
}

void StreamCall::Loaded(StreamSlot* slot) {
  // A stream with a request that has no answer yet is over only if it was cancelled.
  Admit(slot, is_done_ ? CallCancelled() : slot->load_status());
}

void StreamCall::Admit(StreamSlot* slot, const absl::Status& status) {
  bool copied = true;
  if (status.ok()) {
    copied = context_->handler->Handle(slot->message, &slot->request);
  } else {
    slot->request.reply.Fail(status);
  }
  if (!copied) return;
  slot->wire.DropBuffers();
  slot->regions.DropInputs();
}

absl::Status StreamCall::LoadRegions(StreamSlot* slot) {
  if (slot->wire.regions().empty()) return absl::OkStatus();
  return slot->regions.Load(slot->wire.regions(), ConnectionOf(&rpc_.server), context_->regions,
                            &slot->message);
}

void StreamCall::ReadNext() {
  const bool full = unanswered_ + outbox_.size() >= kMaxStreamRequests;
  if (full || reading_ || read_all_ || broken_ || ending_) return;
  reading_ = true;
  rpc_.stream.Read(&rpc_.bytes, &read_);
}

void StreamCall::Answered(StreamSlot* slot, grpc::ByteBuffer response,
                          grpc::ByteBuffer final_response) {
  absl::MutexLock lock(&mu_);
  slot->response = std::move(response);
  slot->final_response = std::move(final_response);
  Release(slot->apart ? slot : lines_.Answered(slot));
  WriteNext();
  ReadNext();  // nothing may be there to be written, and so to make room
  FinishIfOver();
}

// A chain by `next` of slots that may leave.
void StreamCall::Release(StreamSlot* first) {
  for (StreamSlot* leaving = first; leaving != nullptr; leaving = leaving->next) {
    --unanswered_;
    for (grpc::ByteBuffer* bytes : {&leaving->response, &leaving->final_response}) {
      if (bytes->Valid() && !broken_) outbox_.push_back({std::move(*bytes), nullptr});
      bytes->Clear();
    }
    answered_slots_.push_back(leaving);
  }
}

void StreamCall::AnsweredInPart(StreamSlot* slot, grpc::ByteBuffer response) {
  {
    absl::MutexLock lock(&mu_);
    if (!slot->apart) {
      slot->apart = true;
      Release(lines_.Leave(slot));
    }
    if (!broken_) outbox_.push_back({std::move(response), slot});
    WriteNext();
    if (!broken_) return;
  }
  RequestQueue* const queue = slot->request.queue;
  queue->Cancel(&slot->request);
  queue->Continue(&slot->request);
}

// Nothing can be written any more.
void StreamCall::DropOutbox() {
  for (const Outgoing& dropped : outbox_) {
    if (dropped.part_of != nullptr) written_slots_.push_back(dropped.part_of);
  }
  outbox_.clear();
}

// On the queue's thread. The requests whose answers were written, or dropped, go on.
void StreamCall::ContinueWritten() {
  {
    absl::MutexLock lock(&mu_);
    continuing_.swap(written_slots_);
  }
  for (StreamSlot* slot : continuing_) slot->request.queue->Continue(&slot->request);
  continuing_.clear();
}

// A write that another one follows is held back, so that both go to the socket together. Not the
// first one: the initial metadata goes with it, and its tag does not come before these are sent.
void StreamCall::WriteNext() {
  if (writing_ || outbox_.empty()) return;
  grpc::WriteOptions options;
  if (has_written_ && outbox_.size() > 1) options.set_buffer_hint();
  has_written_ = true;
  writing_ = true;
  writing_part_of_ = outbox_.front().part_of;
  rpc_.stream.Write(outbox_.front().bytes, options, &written_);
  outbox_.pop_front();
}

void StreamCall::Written(bool ok) {
  ClearAnswered();
  {
    absl::MutexLock lock(&mu_);
    writing_ = false;
    StreamSlot* const written = std::exchange(writing_part_of_, nullptr);
    if (written != nullptr) written_slots_.push_back(written);
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

void StreamCall::Finished(bool) {
  is_finished_ = true;
  DeleteIfOver();
}

void StreamCall::Done(bool) {
  is_done_ = true;
  inflation_.Drop();
  if (rpc_.server.IsCancelled()) {
    // Slots are filled and cleared on this thread only, so that none of them changes hands now.
    for (const std::unique_ptr<StreamSlot>& slot : slots_) {
      if (slot->request.queue != nullptr) slot->request.queue->Cancel(&slot->request);
    }
    absl::MutexLock lock(&mu_);
    broken_ = true;
    DropOutbox();
    FinishIfOver();
  }
  ContinueWritten();
  DeleteIfOver();
}

// On the queue's thread, with no lock held: the last tag may be back.
void StreamCall::DeleteIfOver() {
  if (!is_done_ || !is_finished_) return;
  {
    absl::MutexLock lock(&mu_);
    if (reading_) return;
  }
  context_->streams->Remove(this);
  context_->metrics->open_calls.fetch_sub(1, std::memory_order_relaxed);
  delete this;
}

}  // namespace mpsd
