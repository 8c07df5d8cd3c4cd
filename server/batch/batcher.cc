#include "server/batch/batcher.h"

#include <algorithm>
#include <cstring>

#include "proto/base/check.h"
#include "proto/base/limits.h"
#include "proto/base/platform.h"
#include "server/batch/slab_sizing.h"

namespace mpsd {

void FormedBatch::Clear() {
  entries.clear();
  runs.clear();
  inputs.clear();
  byte_counts.clear();
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
  if (queue->own_extents) return ReserveExtent(request, targets);
  uint32_t first_row = 0;
  if (!queue->has_slab || !slabs_.Reserve(queue->slab, request->rows, &first_row)) {
    if (!OpenSlab(queue)) return ReserveExtent(request, targets);
    MPSD_CHECK(slabs_.Reserve(queue->slab, request->rows, &first_row));
  }
  Place(request, queue->slab, first_row, targets);
  // A slab that is full at once serves nobody else.
  if (request->rows == slabs_.slab(queue->slab).row_capacity) {
    slabs_.Close(queue->slab);
    queue->has_slab = false;
  }
  return absl::OkStatus();
}

absl::Status Batcher::ReserveExtent(Request* request, RowTargets* targets) {
  uint64_t bytes = 0;
  for (const RequestInput& input : request->inputs) {
    bytes += SlabTable::RegionBytes(input, request->rows);
  }
  const absl::StatusOr<uint32_t> slab =
      LeaseSlab(ExtentBytes(bytes, platform::PageBytes()), request->rows);
  if (!slab.ok()) return slab.status();
  uint32_t first_row = 0;
  MPSD_CHECK(slabs_.Reserve(*slab, request->rows, &first_row));
  Place(request, *slab, first_row, targets);
  slabs_.Close(*slab);
  return absl::OkStatus();
}

void Batcher::Place(Request* request, uint32_t slab, uint32_t first_row, RowTargets* targets) {
  request->Go(RequestState::kReserved);
  request->place = {slab, first_row};
  Locate(*request, targets);
}

void Batcher::Locate(const Request& request, RowTargets* targets) const {
  const auto [slab, first_row] = request.place;
  targets->inputs.clear();
  const uint32_t row_capacity = slabs_.slab(slab).row_capacity;
  uint64_t region_offset = 0;
  for (const RequestInput& input : request.inputs) {
    targets->inputs.push_back(slabs_.Address(slab, region_offset, first_row, input.row_bytes));
    region_offset += SlabTable::RegionBytes(input, row_capacity);
  }
}

void Batcher::Enqueue(Request* request) {
  request->Go(RequestState::kQueued);
  RequestList& list = request->suspect ? suspects_ : QueueOf(*request)->waiting;
  list.InsertByDeadline(request);
}

void Batcher::Remove(Request* request) {
  MPSD_CHECK(request->state == RequestState::kQueued);
  RequestList& list = request->suspect ? suspects_ : QueueOf(*request)->waiting;
  list.Remove(request);
  request->Go(RequestState::kEnded);
  EndRows(request->place, request->rows);
}

void Batcher::EndRows(const RowPlace& place, uint32_t rows) { slabs_.EndRows(place.slab, rows); }

bool Batcher::Form(int64_t now_ns, FormedBatch* batch, std::vector<Request*>* expired) {
  batch->Clear();
  while (KeyQueue* queue = EarliestDue(now_ns)) {
    while (Request* request = queue->waiting.head()) {
      if (request->deadline_ns <= now_ns) {
        Drop(&queue->waiting, request, expired);
        break;  // another key may be the earliest now
      }
      if (!HasRoom(*batch, *request, *queue)) break;
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

void Batcher::TakeEqual(const Request& request, std::vector<Request*>* equal) {
  TakeEqualFrom(&suspects_, request, equal);
  const auto queue = queues_.find(request.key);
  if (queue != queues_.end()) TakeEqualFrom(&queue->second->waiting, request, equal);
}

void Batcher::TakeEqualFrom(RequestList* list, const Request& request,
                            std::vector<Request*>* equal) {
  for (Request* other = list->head(); other != nullptr;) {
    Request* next = other->next;
    if (AreEqual(request, *other)) Drop(list, other, equal);
    other = next;
  }
}

bool Batcher::AreEqual(const Request& one, const Request& other) const {
  if (one.rows != other.rows || one.key != other.key) return false;
  RowTargets rows;
  RowTargets other_rows;
  Locate(one, &rows);
  Locate(other, &other_rows);
  for (size_t i = 0; i < one.inputs.size(); ++i) {
    const uint64_t bytes = one.inputs[i].Bytes(one.rows);
    if (other.inputs[i].Bytes(other.rows) != bytes ||
        std::memcmp(rows.inputs[i], other_rows.inputs[i], bytes) != 0) {
      return false;
    }
  }
  return true;
}

void Batcher::TakeAll(std::vector<Request*>* all) { TakeExpired(INT64_MAX, all); }

std::optional<int64_t> Batcher::NextDueNs() const {
  std::optional<int64_t> next_ns;
  for (const auto& [key, queue] : queues_) {
    if (queue->waiting.empty()) continue;
    next_ns = std::min(next_ns.value_or(INT64_MAX), DueNs(*queue));
  }
  return next_ns;
}

// REQUIRES: somebody waits in it.
int64_t Batcher::DueNs(const KeyQueue& queue) const {
  if (max_delay_ns_ == 0 || queue.waiting.rows() >= max_rows()) return INT64_MIN;
  return queue.waiting.head()->arrival_ns + max_delay_ns_;
}

Batcher::KeyQueue* Batcher::QueueOf(const Request& request) {
  std::unique_ptr<KeyQueue>& queue = queues_[request.key];
  if (queue == nullptr) {
    queue = std::make_unique<KeyQueue>();
    for (const RequestInput& input : request.inputs) queue->row_bytes.push_back(input.row_bytes);
    queue->row_capacity = SlabRows(*spec_, queue->row_bytes);
    queue->bytes_inputs = static_cast<uint32_t>(
        std::count_if(request.inputs.begin(), request.inputs.end(),
                      [](const RequestInput& in) { return in.datatype == DataType::kBytes; }));
    queue->own_extents =
        queue->bytes_inputs > 0 ||
        SlabTable::Bytes(queue->row_bytes, queue->row_capacity) > kMaxSharedSlabBytes;
    KeyQueue* fresh = queue.get();
    fresh->last_used = ++use_count_;
    ForgetIdleKeys(fresh);
    return fresh;
  }
  queue->last_used = ++use_count_;
  return queue.get();
}

bool Batcher::OpenSlab(KeyQueue* queue) {
  if (queue->has_slab) {
    slabs_.Close(queue->slab);
    queue->has_slab = false;
  }
  CloseLeastRecentlyUsed();
  const absl::StatusOr<uint32_t> slab =
      LeaseSlab(SlabTable::Bytes(queue->row_bytes, queue->row_capacity), queue->row_capacity);
  if (!slab.ok()) return false;
  queue->slab = *slab;
  queue->has_slab = true;
  return true;
}

// Slabs that idle are closed for the sake of another.
absl::StatusOr<uint32_t> Batcher::LeaseSlab(uint64_t bytes, uint32_t rows) {
  absl::StatusOr<uint32_t> slab = slabs_.Lease(bytes, rows);
  if (!slab.ok() && CloseIdleSlabs()) slab = slabs_.Lease(bytes, rows);
  if (!slab.ok()) missed_bytes_ = std::max(missed_bytes_, bytes);
  return slab;
}

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

Batcher::KeyQueue* Batcher::EarliestDue(int64_t now_ns) const {
  KeyQueue* earliest = nullptr;
  for (const auto& [key, queue] : queues_) {
    if (queue->waiting.empty() || DueNs(*queue) > now_ns) continue;
    if (earliest == nullptr ||
        queue->waiting.head()->deadline_ns < earliest->waiting.head()->deadline_ns) {
      earliest = queue.get();
    }
  }
  return earliest;
}

bool Batcher::HasRoom(const FormedBatch& batch, const Request& request,
                      const KeyQueue& queue) const {
  const size_t runs = batch.runs.size() + 1;
  return batch.row_count + request.rows <= max_rows() && runs <= kMaxRuns &&
         runs * queue.bytes_inputs <= kMaxByteCounts;
}

void Batcher::Append(Request* request, FormedBatch* batch) {
  if (batch->entries.empty()) batch->inputs.assign(request->inputs.begin(), request->inputs.end());
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
    for (const RequestInput& input : request->inputs) {
      if (input.datatype == DataType::kBytes) batch->byte_counts.push_back(input.tensor_bytes);
    }
  }
  batch->entries.push_back({request, batch->row_count, request->rows, request->place});
  batch->row_count += request->rows;
  batch->latest_deadline_ns = std::max(batch->latest_deadline_ns, request->deadline_ns);
  request->Go(RequestState::kRunning);
}

void Batcher::Drop(RequestList* list, Request* request, std::vector<Request*>* dropped) {
  list->Remove(request);
  request->Go(RequestState::kEnded);
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
