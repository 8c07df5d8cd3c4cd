#include "server/batch/batcher.h"

#include <algorithm>

#include "proto/base/check.h"
#include "proto/base/limits.h"
#include "server/batch/slab_sizing.h"

namespace mpsd {

void FormedBatch::Clear() {
  entries.clear();
  runs.clear();
  inputs.clear();
  row_count = 0;
  latest_deadline_ns = 0;
}

void RequestList::InsertByDeadline(Request* request) {
  Request* before = tail_;
  while (before != nullptr && before->deadline_ns > request->deadline_ns) before = before->previous;
  request->previous = before;
  request->next = before == nullptr ? head_ : before->next;
  (before == nullptr ? head_ : before->next) = request;
  (request->next == nullptr ? tail_ : request->next->previous) = request;
  rows_ += request->rows;
}

void RequestList::Remove(Request* request) {
  (request->previous == nullptr ? head_ : request->previous->next) = request->next;
  (request->next == nullptr ? tail_ : request->next->previous) = request->previous;
  request->previous = nullptr;
  request->next = nullptr;
  rows_ -= request->rows;
}

absl::Status Batcher::Reserve(Request* request, RowTargets* targets) {
  KeyQueue* queue = QueueOf(*request);
  uint32_t first_row = 0;
  if (!queue->has_slab || !slabs_.Reserve(queue->slab, request->rows, &first_row)) {
    if (absl::Status status = OpenSlab(queue, request->rows); !status.ok()) return status;
    MPSD_CHECK(slabs_.Reserve(queue->slab, request->rows, &first_row));
  }
  request->place = {queue->slab, first_row};
  request->state = RequestState::kReserved;
  targets->inputs.clear();
  const uint32_t row_capacity = slabs_.slab(queue->slab).row_capacity;
  uint64_t region_offset = 0;
  for (const RequestInput& input : request->inputs) {
    targets->inputs.push_back(
        slabs_.Address(queue->slab, region_offset, first_row, input.row_bytes));
    region_offset += SlabTable::Bytes({&input.row_bytes, 1}, row_capacity);
  }
  // A slab that is full at once serves nobody else.
  if (request->rows == row_capacity) {
    slabs_.Close(queue->slab);
    queue->has_slab = false;
  }
  return absl::OkStatus();
}

void Batcher::Enqueue(Request* request) {
  MPSD_CHECK(request->state == RequestState::kReserved || request->state == RequestState::kRunning);
  request->state = RequestState::kQueued;
  RequestList& list = request->suspect ? suspects_ : QueueOf(*request)->waiting;
  list.InsertByDeadline(request);
}

void Batcher::Remove(Request* request) {
  MPSD_CHECK(request->state == RequestState::kQueued);
  RequestList& list = request->suspect ? suspects_ : QueueOf(*request)->waiting;
  list.Remove(request);
  request->state = RequestState::kEnded;
  EndRows(request->place, request->rows);
}

void Batcher::EndRows(const RowPlace& place, uint32_t rows) { slabs_.EndRows(place.slab, rows); }

bool Batcher::Form(int64_t now_ns, FormedBatch* batch, std::vector<Request*>* expired) {
  batch->Clear();
  for (KeyQueue* queue = Earliest(); queue != nullptr; queue = Earliest()) {
    while (Request* request = queue->waiting.head()) {
      if (request->deadline_ns <= now_ns) {
        Drop(&queue->waiting, request, expired);
        break;  // another key may be the earliest now
      }
      const bool room =
          batch->row_count + request->rows <= max_rows() && batch->runs.size() < kMaxRuns;
      if (!room) break;
      queue->waiting.Remove(request);
      Append(request, batch);
    }
    if (batch->row_count > 0) return true;
  }
  return false;
}

bool Batcher::FormSuspect(int64_t now_ns, FormedBatch* batch, std::vector<Request*>* expired) {
  batch->Clear();
  while (Request* request = suspects_.head()) {
    if (request->deadline_ns <= now_ns) {
      Drop(&suspects_, request, expired);
      continue;
    }
    suspects_.Remove(request);
    Append(request, batch);
    return true;
  }
  return false;
}

void Batcher::TakeExpired(int64_t now_ns, std::vector<Request*>* expired) {
  TakeExpiredFrom(&suspects_, now_ns, expired);
  for (auto& [key, queue] : queues_) TakeExpiredFrom(&queue->waiting, now_ns, expired);
}

void Batcher::TakeAll(std::vector<Request*>* all) { TakeExpired(INT64_MAX, all); }

int64_t Batcher::DueNs(int64_t max_delay_ns) const {
  const KeyQueue* queue = Earliest();
  if (queue == nullptr || queue->waiting.rows() >= max_rows()) return 0;
  return queue->waiting.head()->arrival_ns + max_delay_ns;
}

Batcher::KeyQueue* Batcher::QueueOf(const Request& request) {
  std::unique_ptr<KeyQueue>& queue = queues_[request.key];
  if (queue == nullptr) {
    queue = std::make_unique<KeyQueue>();
    for (const RequestInput& input : request.inputs) queue->row_bytes.push_back(input.row_bytes);
    queue->row_capacity = SlabRows(*spec_, queue->row_bytes);
    KeyQueue* fresh = queue.get();
    fresh->last_used = ++use_count_;
    ForgetIdleKeys(fresh);
    return fresh;
  }
  queue->last_used = ++use_count_;
  return queue.get();
}

absl::Status Batcher::OpenSlab(KeyQueue* queue, uint32_t rows) {
  if (queue->has_slab) {
    slabs_.Close(queue->slab);
    queue->has_slab = false;
  }
  CloseLeastRecentlyUsed();
  const uint32_t capacity = queue->row_capacity;
  absl::StatusOr<uint32_t> slab = slabs_.Lease(queue->row_bytes, capacity);
  if (!slab.ok() && CloseIdleSlabs()) slab = slabs_.Lease(queue->row_bytes, capacity);
  // Rows that are too large for a whole slab of them get one of their own.
  if (!slab.ok() && rows < capacity) slab = slabs_.Lease(queue->row_bytes, rows);
  if (!slab.ok()) return slab.status();
  queue->slab = *slab;
  queue->has_slab = true;
  return absl::OkStatus();
}

// Closes the open slabs in which nothing is live, for the sake of another key.
bool Batcher::CloseIdleSlabs() {
  bool closed = false;
  for (auto& [key, queue] : queues_) {
    if (!queue->has_slab || slabs_.slab(queue->slab).live_rows > 0) continue;
    slabs_.Close(queue->slab);
    queue->has_slab = false;
    closed = true;
  }
  return closed;
}

// Leaves room for one more open slab.
void Batcher::CloseLeastRecentlyUsed() {
  uint32_t open_slabs = 0;
  KeyQueue* oldest = nullptr;
  for (const auto& [key, queue] : queues_) {
    if (!queue->has_slab) continue;
    ++open_slabs;
    if (oldest == nullptr || queue->last_used < oldest->last_used) oldest = queue.get();
  }
  if (open_slabs < kMaxOpenSlabs) return;
  slabs_.Close(oldest->slab);
  oldest->has_slab = false;
}

// Forgets the least recently used keys for which nobody waits, until kMaxOpenSlabs are left.
void Batcher::ForgetIdleKeys(const KeyQueue* keep) {
  while (queues_.size() > kMaxOpenSlabs) {
    auto oldest = queues_.end();
    for (auto it = queues_.begin(); it != queues_.end(); ++it) {
      if (it->second.get() == keep || !it->second->waiting.empty()) continue;
      if (oldest == queues_.end() || it->second->last_used < oldest->second->last_used) oldest = it;
    }
    if (oldest == queues_.end()) return;
    if (oldest->second->has_slab) slabs_.Close(oldest->second->slab);
    queues_.erase(oldest);
  }
}

Batcher::KeyQueue* Batcher::Earliest() const {
  KeyQueue* earliest = nullptr;
  for (const auto& [key, queue] : queues_) {
    if (queue->waiting.empty()) continue;
    if (earliest == nullptr ||
        queue->waiting.head()->deadline_ns < earliest->waiting.head()->deadline_ns) {
      earliest = queue.get();
    }
  }
  return earliest;
}

void Batcher::Append(Request* request, FormedBatch* batch) {
  if (batch->entries.empty()) batch->inputs = request->inputs;
  const Slab& slab = slabs_.slab(request->place.slab);
  const uint32_t first = request->place.first_row;
  RowRun* last = batch->runs.empty() ? nullptr : &batch->runs.back();
  const bool adjacent = last != nullptr && last->segment == slab.segment &&
                        last->slab_offset == slab.offset &&
                        last->first_row + last->row_count == first;
  if (adjacent) {
    last->row_count += request->rows;
  } else {
    batch->runs.push_back({slab.segment, slab.row_capacity, first, request->rows, slab.offset});
  }
  batch->entries.push_back({request, batch->row_count, request->rows, request->place});
  batch->row_count += request->rows;
  batch->latest_deadline_ns = std::max(batch->latest_deadline_ns, request->deadline_ns);
  request->state = RequestState::kRunning;
}

void Batcher::Drop(RequestList* list, Request* request, std::vector<Request*>* dropped) {
  list->Remove(request);
  request->state = RequestState::kEnded;
  EndRows(request->place, request->rows);
  dropped->push_back(request);
}

void Batcher::TakeExpiredFrom(RequestList* list, int64_t now_ns, std::vector<Request*>* expired) {
  // Sorted by deadline: the first that is still alive ends the walk.
  while (Request* request = list->head()) {
    if (request->deadline_ns > now_ns) return;
    Drop(list, request, expired);
  }
}

}  // namespace mpsd
