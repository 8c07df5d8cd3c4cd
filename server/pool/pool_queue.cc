#include "server/pool/pool_queue.h"

#include <algorithm>
#include <utility>

#include "proto/base/check.h"
#include "server/pool/batch/slab_sizing.h"

namespace mpsd {
namespace {

// Requests that are arriving may use the queue's bytes divided by this.
constexpr uint64_t kArrivingShare = 2;

}  // namespace

PoolQueue::PoolQueue(const ServedModel* model, ModelMetrics* metrics,
                     const QueueLedger::Limits& limits, const Clock* clock)
    : model_(model),
      metrics_(metrics),
      clock_(clock),
      requests_gauge_(&metrics->queued_requests),
      bytes_gauge_(&metrics->queued_bytes),
      slabs_gauge_(&metrics->input_slabs_leased),
      segment_bytes_gauge_(&metrics->slab_segment_bytes),
      batcher_(&model_->spec, model_->facts.max_batch_tokens),
      ledger_(limits) {}

absl::Status PoolQueue::Admit(Request* request, uint64_t bytes, RowTargets* targets,
                              int64_t* tick_by_ns) {
  if (ledger_.IsFull(*request, bytes)) return ledger_.FullError();
  if (request->is_arriving && bytes > ledger_.most_bytes() / kArrivingShare - arriving_.bytes) {
    return ledger_.FullError();
  }
  targets->later = false;
  const bool placed = batcher_.Reserve(request, targets).ok();
  AskForGrowth(tick_by_ns);
  if (!placed && (request->filler == nullptr || !growth_.expected())) {
    return ledger_.FullError();
  }
  request->queued_bytes = bytes;
  if (request->is_arriving) {
    arriving_.Add(*request, 1);
    return absl::OkStatus();
  }
  if (placed) {
    reserved_.Add(*request, 1);
  } else {
    request->Go(RequestState::kWaiting);
    waiting_.Insert(request);
    targets->inputs.clear();
    targets->later = true;
  }
  Count(*request, 1);
  return absl::OkStatus();
}

void PoolQueue::Commit(Request* request) {
  QueueLedger::Sum* const reserved = request->is_arriving ? &arriving_ : &reserved_;
  MPSD_CHECK(reserved->requests > 0);
  reserved->Add(*request, -1);
  if (std::exchange(request->is_arriving, false)) Count(*request, 1);
  batcher_.Enqueue(request);
}

void PoolQueue::Return(Request* request) {
  batcher_.Enqueue(request);
  Count(*request, 1);
}

bool PoolQueue::Hold(Request* request) {
  if (!may_hold_) return false;
  request->Go(RequestState::kHeld);
  held_.Insert(request);
  Count(*request, 1);
  return true;
}

void PoolQueue::ReturnHeld(uint64_t lease_bytes) {
  std::vector<Request*> fitting;
  held_.ForEach([&](Request* request) {
    if (request->output_bytes <= lease_bytes) fitting.push_back(request);
  });
  for (Request* request : fitting) {
    held_.Remove(request);
    request->suspect = true;  // runs alone, so that others are not computed in vain
    batcher_.Enqueue(request);
  }
}

void PoolQueue::Remove(Request* request) {
  if (request->state == RequestState::kWaiting) {
    waiting_.Remove(request);
  } else if (request->state == RequestState::kHeld) {
    held_.Remove(request);
    EndRows(request->place, request->rows);
  } else {
    batcher_.Remove(request);
  }
  Count(*request, -1);
}

void PoolQueue::TakeExpired(int64_t until_ns, std::vector<Request*>* expired) {
  TakeWaiting(until_ns, expired);
  TakeHeld(until_ns, expired);
  const size_t waiting = expired->size();
  NoteDelayed(batcher_.TakeExpired(until_ns, expired));
  for (size_t i = waiting; i < expired->size(); ++i) Count(*(*expired)[i], -1);
}

uint32_t PoolQueue::TakeExpiredOf(uint32_t line, uint32_t rank, int64_t until_ns,
                                  std::vector<Request*>* expired) {
  MPSD_CHECK(expired->empty());
  const uint32_t delayed = batcher_.TakeExpiredOf(line, rank, until_ns, expired);
  NoteDelayed(delayed);
  for (const Request* request : *expired) Count(*request, -1);
  return delayed;
}

void PoolQueue::TakeWaiting(int64_t until_ns, std::vector<Request*>* expired) {
  const size_t before = expired->size();
  NoteDelayed(waiting_.TakeExpired(until_ns, expired));
  for (size_t i = before; i < expired->size(); ++i) Count(*(*expired)[i], -1);
}

void PoolQueue::TakeHeld(int64_t until_ns, std::vector<Request*>* held) {
  const size_t before = held->size();
  NoteDelayed(held_.TakeExpired(until_ns, held));
  for (size_t i = before; i < held->size(); ++i) {
    const Request& request = *(*held)[i];
    EndRows(request.place, request.rows);
    Count(request, -1);
  }
}

void PoolQueue::NoteDelayed(uint32_t requests) {
  if (requests > 0) metrics_->delayed_requests.fetch_add(requests, std::memory_order_relaxed);
}

void PoolQueue::TakeEqual(const Request& request, std::vector<Request*>* equal) {
  MPSD_CHECK(equal->empty());
  batcher_.TakeEqual(request, equal);
  for (const Request* other : *equal) Count(*other, -1);
}

void PoolQueue::PlaceWaiting(std::vector<std::pair<Request*, RowTargets>>* fills,
                             int64_t* tick_by_ns) {
  if (waiting_.empty()) return;
  while (Request* request = waiting_.earliest()) {
    RowTargets targets;
    waiting_.Remove(request);
    if (!batcher_.Reserve(request, &targets).ok()) {
      waiting_.Insert(request);
      break;
    }
    reserved_.Add(*request, 1);
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
  const SlabGrowth::Memory memory = {
      slabs.segment_count(), slabs.segment_bytes(),
      MaxSlabBytes(slabs.first_segment_bytes(), ledger_.most_bytes())};
  if (growth_.Miss(missed_bytes, memory, now_ns)) *tick_by_ns = std::min(*tick_by_ns, now_ns);
}

void PoolQueue::Form(uint32_t line, uint32_t max_rows, FormedBatch* batch) {
  batcher_.Form(line, max_rows, batch);
  for (const BatchEntry& entry : batch->entries) ledger_.Count(*entry.request, -1);
  NoteQueue();
}

void PoolQueue::PutBack(FormedBatch* formed) {
  for (const BatchEntry& entry : formed->entries) {
    batcher_.PutBack(entry.request);
    Count(*entry.request, 1);
  }
  formed->Clear();
}

std::optional<uint32_t> PoolQueue::RetireIdle(uint32_t idle_calls) {
  if (batcher_.slab_table().segment_count() <= 1) return std::nullopt;
  batcher_.CloseIdleSlabs();
  NoteSlabs();
  return batcher_.slabs()->RetireIdle(idle_calls);
}

void PoolQueue::Count(const Request& request, int sign) {
  ledger_.Count(request, sign);
  NoteQueue();
}

void PoolQueue::NoteQueue() {
  requests_gauge_.Set(ledger_.requests());
  bytes_gauge_.Set(static_cast<int64_t>(ledger_.bytes()));
  NoteSlabs();
}

void PoolQueue::NoteSlabs() {
  const SlabTable& slabs = batcher_.slab_table();
  slabs_gauge_.Set(slabs.leased_count());
  segment_bytes_gauge_.Set(static_cast<int64_t>(slabs.segment_bytes()));
}

QueueLedger::Sum PoolQueue::CheckInvariants() const {
  batcher_.CheckInvariants();
  waiting_.CheckInvariants();
  QueueLedger::Sum sum = reserved_;
  batcher_.ForEachQueued([&sum](const Request& request) { sum.Add(request, 1); });
  held_.CheckInvariants();
  held_.ForEach([&sum](const Request* request) {
    MPSD_CHECK(request->state == RequestState::kHeld && request->output_bytes > 0);
    sum.Add(*request, 1);
  });
  const uint64_t placed_rows = sum.rows;
  waiting_.ForEach([&sum](const Request* request) {
    MPSD_CHECK(request->state == RequestState::kWaiting);
    sum.Add(*request, 1);
  });
  MPSD_CHECK(sum == ledger_.CheckInvariants());
  sum.rows = placed_rows + arriving_.rows;
  sum.requests += arriving_.requests;
  return sum;
}

}  // namespace mpsd
