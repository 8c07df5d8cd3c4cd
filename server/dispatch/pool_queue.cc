#include "server/dispatch/pool_queue.h"

#include <algorithm>

#include "proto/base/check.h"
#include "server/batch/slab_sizing.h"
#include "server/request/retry_info.h"

namespace mpsd {

PoolQueue::PoolQueue(const ServedModel* model, ModelMetrics* metrics, const Limits& limits,
                     const Clock* clock)
    : model_(model),
      limits_(limits),
      clock_(clock),
      requests_gauge_(&metrics->queued_requests),
      bytes_gauge_(&metrics->queued_bytes),
      slabs_gauge_(&metrics->input_slabs_leased),
      segment_bytes_gauge_(&metrics->slab_segment_bytes),
      batcher_(&model_->spec) {}

absl::Status PoolQueue::Admit(Request* request, uint64_t bytes, RowTargets* targets,
                              int64_t* tick_by_ns) {
  const bool is_full =
      requests_ >= limits_.requests || bytes > limits_.bytes - std::min(limits_.bytes, bytes_);
  if (is_full) return FullError();
  targets->later = false;
  const bool placed = batcher_.Reserve(request, targets).ok();
  AskForGrowth(tick_by_ns);
  if (!placed && (request->filler == nullptr || !growth_.expected())) return FullError();
  request->queued_bytes = bytes;
  if (placed) {
    reserved_.Add(*request);
  } else {
    request->Go(RequestState::kWaiting);
    waiting_.InsertByDeadline(request);
    targets->inputs.clear();
    targets->later = true;
  }
  Count(*request, 1);
  return absl::OkStatus();
}

void PoolQueue::Commit(Request* request) {
  MPSD_CHECK(reserved_.requests > 0);
  --reserved_.requests;
  reserved_.bytes -= request->queued_bytes;
  reserved_.rows -= request->rows;
  batcher_.Enqueue(request);
}

void PoolQueue::Return(Request* request) {
  batcher_.Enqueue(request);
  Count(*request, 1);
}

void PoolQueue::Remove(Request* request) {
  if (request->state == RequestState::kWaiting) {
    waiting_.Remove(request);
  } else {
    batcher_.Remove(request);
  }
  Count(*request, -1);
}

void PoolQueue::TakeExpired(int64_t until_ns, std::vector<Request*>* expired) {
  TakeWaiting(until_ns, expired);
  const size_t waiting = expired->size();
  batcher_.TakeExpired(until_ns, expired);
  for (size_t i = waiting; i < expired->size(); ++i) Count(*(*expired)[i], -1);
}

void PoolQueue::TakeExpiredOf(uint32_t line, int64_t until_ns, std::vector<Request*>* expired) {
  MPSD_CHECK(expired->empty());
  batcher_.TakeExpiredOf(line, until_ns, expired);
  for (const Request* request : *expired) Count(*request, -1);
}

void PoolQueue::TakeWaiting(int64_t until_ns, std::vector<Request*>* expired) {
  while (Request* request = waiting_.head()) {
    if (request->deadline_ns > until_ns) return;
    waiting_.Remove(request);
    Count(*request, -1);
    expired->push_back(request);
  }
}

void PoolQueue::TakeEqual(const Request& request, std::vector<Request*>* equal) {
  MPSD_CHECK(equal->empty());
  batcher_.TakeEqual(request, equal);
  for (const Request* other : *equal) Count(*other, -1);
}

void PoolQueue::PlaceWaiting(std::vector<std::pair<Request*, RowTargets>>* fills,
                             int64_t* tick_by_ns) {
  if (waiting_.empty()) return;
  while (Request* request = waiting_.head()) {
    RowTargets targets;
    waiting_.Remove(request);
    if (!batcher_.Reserve(request, &targets).ok()) {
      waiting_.InsertByDeadline(request);
      break;
    }
    reserved_.Add(*request);
    fills->emplace_back(request, std::move(targets));
  }
  AskForGrowth(tick_by_ns);
}

// Rows found no room in any segment.
void PoolQueue::AskForGrowth(int64_t* tick_by_ns) {
  const uint64_t missed_bytes = batcher_.TakeMissedBytes();
  if (missed_bytes == 0) return;
  const SlabTable& slabs = batcher_.slab_table();
  const int64_t now_ns = clock_->NowNs();
  const SlabGrowth::Memory memory = {slabs.segment_count(), slabs.segment_bytes(),
                                     MaxSlabBytes(slabs.first_segment_bytes(), limits_.bytes)};
  if (growth_.Miss(missed_bytes, memory, now_ns)) *tick_by_ns = std::min(*tick_by_ns, now_ns);
}

void PoolQueue::Form(uint32_t line, uint32_t max_rows, FormedBatch* batch) {
  batcher_.Form(line, max_rows, batch);
  for (const BatchEntry& entry : batch->entries) {
    --requests_;
    bytes_ -= entry.request->queued_bytes;
    rows_ -= entry.request->rows;
  }
  NoteQueue();
}

void PoolQueue::PutBack(FormedBatch* formed) {
  for (const BatchEntry& entry : formed->entries) Return(entry.request);
  formed->Clear();
}

std::optional<uint32_t> PoolQueue::RetireIdle(uint32_t idle_calls) {
  if (batcher_.slab_table().segment_count() <= 1) return std::nullopt;
  batcher_.CloseIdleSlabs();
  NoteSlabs();
  return batcher_.slabs()->RetireIdle(idle_calls);
}

absl::Status PoolQueue::FullError() const {
  return WithRetryAfter(absl::ResourceExhaustedError("Exceeds maximum queue size"),
                        rate_.RetryDelayNs(requests_));
}

void PoolQueue::Count(const Request& request, int sign) {
  MPSD_CHECK(sign > 0 || (requests_ > 0 && bytes_ >= request.queued_bytes));
  requests_ += static_cast<uint32_t>(sign);
  bytes_ += static_cast<uint64_t>(sign) * request.queued_bytes;
  rows_ += static_cast<uint64_t>(sign) * request.rows;
  NoteQueue();
}

void PoolQueue::NoteQueue() {
  requests_gauge_.Set(requests_);
  bytes_gauge_.Set(static_cast<int64_t>(bytes_));
  NoteSlabs();
}

void PoolQueue::NoteSlabs() {
  const SlabTable& slabs = batcher_.slab_table();
  slabs_gauge_.Set(slabs.leased_count());
  segment_bytes_gauge_.Set(static_cast<int64_t>(slabs.segment_bytes()));
}

void PoolQueue::Sum::Add(const Request& request) {
  ++requests;
  bytes += request.queued_bytes;
  rows += request.rows;
}

uint64_t PoolQueue::CheckInvariants() const {
  batcher_.CheckInvariants();
  Sum sum = reserved_;
  batcher_.ForEachQueued([&sum](const Request& request) { sum.Add(request); });
  const uint64_t placed_rows = sum.rows;
  for (const Request* request = waiting_.head(); request != nullptr; request = request->next) {
    MPSD_CHECK(request->state == RequestState::kWaiting);
    sum.Add(*request);
  }
  MPSD_CHECK(sum.requests == requests_ && sum.bytes == bytes_ && sum.rows == rows_);
  return placed_rows;
}

}  // namespace mpsd
