#include "server/batch/batcher.h"

#include <algorithm>
#include <cstring>

#include "proto/base/check.h"
#include "proto/base/limits.h"
#include "proto/base/platform.h"
#include "server/batch/slab_sizing.h"

namespace mpsd {

absl::Status Batcher::Reserve(Request* request, RowTargets* targets) {
  KeyQueue* queue = QueueOf(*request);
  if (queue->own_extents) return ReserveExtent(request, targets);
  uint32_t first_row = 0;
  if (!queue->has_slab || !slabs_.Reserve(queue->slab, request->rows, &first_row)) {
    if (!OpenSlab(queue)) return ReserveExtent(request, targets);
    MPSD_CHECK(slabs_.Reserve(queue->slab, request->rows, &first_row));
  }
  Place(request, queue->slab, first_row, targets);
  // A slab that one request fills serves no other.
  if (request->rows == slabs_.slab(queue->slab).row_capacity) {
    CloseSlab(queue);
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

LineView Batcher::ViewOf(const RequestList& list) {
  const Request* head = list.head();
  if (head == nullptr) return {};
  return {list.rows(), head->rows, head->arrival_ns, head->deadline_ns};
}

void Batcher::Enqueue(Request* request) {
  request->Go(RequestState::kQueued);
  if (request->suspect) return suspects_.InsertByDeadline(request);
  KeyQueue* queue = QueueOf(*request);
  queue->waiting.InsertByDeadline(request);
  Show(*queue);
}

void Batcher::Remove(Request* request) {
  MPSD_CHECK(request->state == RequestState::kQueued);
  if (request->suspect) {
    suspects_.Remove(request);
  } else {
    KeyQueue* queue = QueueOf(*request);
    queue->waiting.Remove(request);
    Show(*queue);
  }
  EndRows(request->place, request->rows);
}

void Batcher::EndRows(const RowPlace& place, uint32_t rows) { slabs_.EndRows(place.slab, rows); }

void Batcher::Form(uint32_t line, uint32_t max_rows, FormedBatch* batch) {
  KeyQueue* queue = line_queues_[line];
  batch->Clear();
  while (Request* request = queue->waiting.head()) {
    if (!HasRoom(*batch, *request, *queue, max_rows)) break;
    queue->waiting.Remove(request);
    Append(request, batch);
  }
  Show(*queue);
  MPSD_CHECK(batch->row_count > 0);
}

void Batcher::FormSuspect(FormedBatch* batch) {
  Request* request = suspects_.head();
  MPSD_CHECK(request != nullptr);
  batch->Clear();
  suspects_.Remove(request);
  Append(request, batch);
}

void Batcher::TakeExpiredOf(uint32_t line, int64_t until_ns, std::vector<Request*>* expired) {
  if (line == SchedulerDecision::kSuspects) return TakeExpiredFrom(&suspects_, until_ns, expired);
  TakeExpiredFrom(&line_queues_[line]->waiting, until_ns, expired);
  Show(*line_queues_[line]);
}

void Batcher::TakeExpired(int64_t until_ns, std::vector<Request*>* expired) {
  TakeExpiredFrom(&suspects_, until_ns, expired);
  for (uint32_t line = 0; line < lines_.size(); ++line) {
    if (!lines_[line].empty()) TakeExpiredOf(line, until_ns, expired);
  }
}

void Batcher::TakeEqual(const Request& request, std::vector<Request*>* equal) {
  TakeEqualFrom(&suspects_, request, equal);
  const auto queue = queues_.find(request.key);
  if (queue == queues_.end()) return;
  TakeEqualFrom(&queue->second->waiting, request, equal);
  Show(*queue->second);
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

Batcher::KeyQueue* Batcher::QueueOf(const Request& request) {
  std::unique_ptr<KeyQueue>& entry = queues_[request.key];
  KeyQueue* queue = entry == nullptr ? AddQueue(request, &entry) : entry.get();
  queue->last_used = ++use_count_;
  return queue;
}

Batcher::KeyQueue* Batcher::AddQueue(const Request& request, std::unique_ptr<KeyQueue>* entry) {
  *entry = std::make_unique<KeyQueue>();
  KeyQueue* queue = entry->get();  // `entry` does not outlive ForgetIdleKeys()
  for (const RequestInput& input : request.inputs) queue->row_bytes.push_back(input.row_bytes);
  queue->row_capacity = SlabRows(*spec_, queue->row_bytes);
  queue->bytes_inputs = static_cast<uint32_t>(
      std::count_if(request.inputs.begin(), request.inputs.end(),
                    [](const RequestInput& in) { return in.datatype == DataType::kBytes; }));
  queue->own_extents =
      queue->bytes_inputs > 0 ||
      SlabTable::Bytes(queue->row_bytes, queue->row_capacity) > kMaxSharedSlabBytes;
  queue->line = static_cast<uint32_t>(lines_.size());
  lines_.emplace_back();
  line_queues_.push_back(queue);
  ForgetIdleKeys(queue);
  return queue;
}

bool Batcher::OpenSlab(KeyQueue* queue) {
  if (queue->has_slab) CloseSlab(queue);
  CloseLeastRecentlyUsed();
  const absl::StatusOr<uint32_t> slab =
      LeaseSlab(SlabTable::Bytes(queue->row_bytes, queue->row_capacity), queue->row_capacity);
  if (!slab.ok()) return false;
  queue->slab = *slab;
  queue->has_slab = true;
  return true;
}

void Batcher::CloseSlab(KeyQueue* queue) {
  slabs_.Close(queue->slab);
  queue->has_slab = false;
}

// Closes idle slabs where another slab finds no room.
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
    CloseSlab(queue.get());
    closed = true;
  }
  return closed;
}

// Makes room for one more open slab.
void Batcher::CloseLeastRecentlyUsed() {
  uint32_t open_slabs = 0;
  KeyQueue* oldest = nullptr;
  for (const auto& [key, queue] : queues_) {
    if (!queue->has_slab) continue;
    ++open_slabs;
    if (oldest == nullptr || queue->last_used < oldest->last_used) oldest = queue.get();
  }
  if (open_slabs < kMaxOpenSlabs) return;
  CloseSlab(oldest);
}

// Forgets the least recently used keys whose line is empty, until kMaxOpenSlabs keys are left.
void Batcher::ForgetIdleKeys(const KeyQueue* keep) {
  while (queues_.size() > kMaxOpenSlabs) {
    auto oldest = queues_.end();
    for (auto it = queues_.begin(); it != queues_.end(); ++it) {
      if (it->second.get() == keep || !it->second->waiting.empty()) continue;
      if (oldest == queues_.end() || it->second->last_used < oldest->second->last_used) oldest = it;
    }
    if (oldest == queues_.end()) return;
    if (oldest->second->has_slab) CloseSlab(oldest->second.get());
    RemoveLine(oldest->second->line);
    queues_.erase(oldest);
  }
}

// The last line takes the place of the one that goes.
void Batcher::RemoveLine(uint32_t line) {
  MPSD_CHECK(lines_[line].empty());
  line_queues_.back()->line = line;
  lines_[line] = lines_.back();
  line_queues_[line] = line_queues_.back();
  lines_.pop_back();
  line_queues_.pop_back();
}

bool Batcher::HasRoom(const FormedBatch& batch, const Request& request, const KeyQueue& queue,
                      uint32_t max_rows) const {
  const size_t runs = batch.runs.size() + 1;
  return batch.row_count + request.rows <= max_rows && runs <= kMaxRuns &&
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
  EndRows(request->place, request->rows);
  dropped->push_back(request);
}

void Batcher::TakeExpiredFrom(RequestList* list, int64_t until_ns, std::vector<Request*>* expired) {
  // Sorted by deadline: the first that is still alive ends the walk.
  while (Request* request = list->head()) {
    if (request->deadline_ns > until_ns) return;
    Drop(list, request, expired);
  }
}

void Batcher::CheckInvariants() const {
  slabs_.CheckInvariants();
  MPSD_CHECK(lines_.size() == queues_.size() && line_queues_.size() == queues_.size());
  uint32_t open_slabs = 0;
  for (const auto& [key, queue] : queues_) {
    MPSD_CHECK(line_queues_[queue->line] == queue.get());
    MPSD_CHECK(lines_[queue->line] == ViewOf(queue->waiting));
    MPSD_CHECK(!queue->has_slab || slabs_.slab(queue->slab).open);
    open_slabs += queue->has_slab ? 1 : 0;
    for (const Request* request = queue->waiting.head(); request != nullptr;
         request = request->next) {
      MPSD_CHECK(!request->suspect && request->key == key);
      CheckQueued(*request);
    }
  }
  MPSD_CHECK(open_slabs <= kMaxOpenSlabs && open_slabs == slabs_.open_count());
  for (const Request* request = suspects_.head(); request != nullptr; request = request->next) {
    MPSD_CHECK(request->suspect);
    CheckQueued(*request);
  }
}

void Batcher::CheckQueued(const Request& request) const {
  MPSD_CHECK(request.state == RequestState::kQueued);
  MPSD_CHECK(request.next == nullptr || request.next->deadline_ns >= request.deadline_ns);
  const Slab& slab = slabs_.slab(request.place.slab);
  MPSD_CHECK(request.place.first_row + request.rows <= slab.next_row);
  MPSD_CHECK(request.rows <= slab.live_rows);
}

void Batcher::CheckCovers(const FormedBatch& batch) const {
  auto run = batch.runs.begin();
  uint32_t row = 0;         // of the batch
  uint32_t row_of_run = 0;  // of *run
  for (const BatchEntry& entry : batch.entries) {
    MPSD_CHECK(entry.first_row == row);
    MPSD_CHECK(run != batch.runs.end());
    if (row_of_run == run->row_count) {
      ++run;
      row_of_run = 0;
      MPSD_CHECK(run != batch.runs.end());
    }
    const Slab& slab = slabs_.slab(entry.place.slab);
    MPSD_CHECK(run->segment == slab.segment && run->slab_offset == slab.offset);
    MPSD_CHECK(run->row_capacity == slab.row_capacity);
    MPSD_CHECK(run->first_row + row_of_run == entry.place.first_row);
    row += entry.row_count;
    row_of_run += entry.row_count;
    MPSD_CHECK(row_of_run <= run->row_count);
  }
  MPSD_CHECK(batch.entries.empty() ? batch.runs.empty()
                                   : run + 1 == batch.runs.end() && row_of_run == run->row_count);
  MPSD_CHECK(row == batch.row_count);
}

}  // namespace mpsd
