#include "server/dispatch/pool.h"

#include <algorithm>

#include "proto/base/check.h"
#include "server/dispatch/batch_record_writer.h"
#include "server/dispatch/completion_reader.h"
#include "server/dispatch/output_sizing.h"

namespace mpsd {

Pool::Pool(ServedModel* model, const PoolOptions& options, const Clock* clock,
           CompletionSink* replies, PoolKeeper* keeper)
    : model_(model),
      options_(options),
      clock_(clock),
      replies_(replies),
      keeper_(keeper),
      batcher_(&model->spec) {}

Pool::~Pool() {
  for (const std::shared_ptr<WorkerLink>& link : links_) {
    MPSD_CHECK(link->inflight_batches == 0);
    link->Detach();
  }
}

// ---- requests ----

absl::Status Pool::Reserve(Request* request, RowTargets* targets) {
  uint64_t bytes = 0;
  for (const RequestInput& input : request->inputs) bytes += input.row_bytes * request->rows;
  absl::MutexLock lock(&mu_);
  if (queued_requests_ >= options_.queue_requests ||
      bytes > options_.queue_bytes - std::min(options_.queue_bytes, queued_bytes_)) {
    return absl::ResourceExhaustedError("Exceeds maximum queue size");
  }
  if (absl::Status status = batcher_.Reserve(request, targets); !status.ok()) {
    return absl::ResourceExhaustedError("Exceeds maximum queue size");
  }
  request->queued_bytes = bytes;
  request->queue = this;
  NoteQueueOf(*request, 1);
  inside_.fetch_add(1, std::memory_order_relaxed);
  return absl::OkStatus();
}

void Pool::Commit(Request* request) {
  Work work;
  {
    absl::MutexLock lock(&mu_);
    batcher_.Enqueue(request);
    Dispatch(&work);
  }
  Carry(&work);
}

void Pool::Cancel(Request* request) {
  Work work;
  {
    absl::MutexLock lock(&mu_);
    MPSD_CHECK(request->state != RequestState::kReserved);
    if (request->state == RequestState::kQueued) {
      NoteQueueOf(*request, -1);
      batcher_.Remove(request);
    } else if (!AbandonRunning(request)) {
      return;
    }
    inside_.fetch_sub(1, std::memory_order_relaxed);
    work.ended.emplace_back(request, absl::CancelledError("the client cancelled the call"));
  }
  Carry(&work);
}

void Pool::NoteQueueOf(const Request& request, int sign) {
  queued_requests_ += static_cast<uint32_t>(sign);
  queued_bytes_ += static_cast<uint64_t>(sign) * request.queued_bytes;
  ModelMetrics& metrics = model_->metrics;
  metrics.queued_requests.store(queued_requests_, std::memory_order_relaxed);
  metrics.queued_bytes.store(static_cast<int64_t>(queued_bytes_), std::memory_order_relaxed);
  metrics.input_slabs_leased.store(batcher_.slabs()->leased_count(), std::memory_order_relaxed);
}

// ---- dispatch ----

void Pool::Dispatch(Work* work) {
  if (queued_requests_ == 0) return;
  const int64_t now_ns = clock_->NowNs();
  if (batcher_.has_suspects()) {
    while (DispatchSuspect(now_ns, work)) {
    }
  }
  WorkerLink* link = nullptr;
  while (LanePort* port = FreeLane(&link)) {
    if (options_.max_delay_ns > 0) {
      const int64_t due_ns = batcher_.DueNs(options_.max_delay_ns);
      if (due_ns > now_ns) return keeper_->WakeBy(due_ns);
    }
    std::unique_ptr<InflightBatch> batch = NewBatch();
    const bool formed = batcher_.Form(now_ns, &batch->formed, &expired_);
    EndExpired(&expired_, work);
    if (!formed) {
      spare_batches_.push_back(std::move(batch));
      return;
    }
    if (!Submit(std::move(batch), link, port, now_ns, work)) return;
  }
}

// Suspects run one at a time, each alone in a worker that is kept for them meanwhile.
bool Pool::DispatchSuspect(int64_t now_ns, Work* work) {
  WorkerLink* link = IsolatedWorker();
  if (link == nullptr || link->inflight_batches > 0) return false;
  std::unique_ptr<InflightBatch> batch = NewBatch();
  const bool formed = batcher_.FormSuspect(now_ns, &batch->formed, &expired_);
  EndExpired(&expired_, work);
  if (!formed) {
    spare_batches_.push_back(std::move(batch));
    link->isolated = false;
    return false;
  }
  return Submit(std::move(batch), link, &link->ports().front(), now_ns, work);
}

// The worker that is kept for suspects; the least busy one becomes it when there is none.
WorkerLink* Pool::IsolatedWorker() {
  WorkerLink* idlest = nullptr;
  for (const std::shared_ptr<WorkerLink>& link : links_) {
    if (link->condemned) continue;
    if (link->isolated) return link.get();
    if (idlest == nullptr || link->inflight_batches < idlest->inflight_batches) idlest = link.get();
  }
  if (idlest != nullptr) idlest->isolated = true;
  return idlest;
}

// The lane with the fewest batches, of the worker with the fewest batches. Null when all are full.
LanePort* Pool::FreeLane(WorkerLink** link) {
  LanePort* best = nullptr;
  for (const std::shared_ptr<WorkerLink>& candidate : links_) {
    if (candidate->condemned) continue;
    if (candidate->isolated) {
      if (batcher_.has_suspects() || candidate->inflight_batches > 0) continue;
      candidate->isolated = false;
    }
    for (LanePort& port : candidate->ports()) {
      if (port.inflight_count >= options_.lane_depth) continue;
      const bool better = best == nullptr || port.inflight_count < best->inflight_count ||
                          (port.inflight_count == best->inflight_count &&
                           candidate->inflight_batches < (*link)->inflight_batches);
      if (!better) continue;
      best = &port;
      *link = candidate.get();
    }
  }
  return best;
}

std::unique_ptr<InflightBatch> Pool::NewBatch() {
  if (spare_batches_.empty()) return std::make_unique<InflightBatch>();
  std::unique_ptr<InflightBatch> batch = std::move(spare_batches_.back());
  spare_batches_.pop_back();
  return batch;
}

uint64_t Pool::OutputBytes(const FormedBatch& formed) const {
  const std::optional<uint64_t> known = KnownOutputBytes(model_->spec, formed.row_count);
  if (known.has_value()) return *known;
  const uint64_t row_bytes = std::max(learned_row_bytes_, kAssumedOutputRowBytes);
  return row_bytes * formed.row_count;
}

// Sends the batch to the lane. False when the worker's output area has no room: the requests are
// back in the queue, and the release that makes room will ring.
bool Pool::Submit(std::unique_ptr<InflightBatch> batch, WorkerLink* link, LanePort* port,
                  int64_t now_ns, Work* work) {
  batch->lease = link->LeaseOutput(OutputBytes(batch->formed));
  if (batch->lease == nullptr) {
    PutBack(&batch->formed);
    spare_batches_.push_back(std::move(batch));
    return false;
  }
  for (const BatchEntry& entry : batch->formed.entries) NoteQueueOf(*entry.request, -1);
  batch->id = next_batch_id_++;
  batch->batched_ns = now_ns;
  const auto free_place = std::find(port->inflight.begin(), port->inflight.end(), nullptr);
  MPSD_CHECK(free_place != port->inflight.end());
  const auto place = static_cast<uint32_t>(free_place - port->inflight.begin());
  WriteBatchRecord(batch->formed, batch->id, *batch->lease, model_->spec.batches(),
                   &port->mailbox->records[place]);
  *free_place = std::move(batch);
  ++port->inflight_count;
  ++link->inflight_batches;
  model_->metrics.running_batches.fetch_add(1, std::memory_order_relaxed);
  model_->metrics.output_leases.fetch_add(1, std::memory_order_relaxed);
  if (!port->submit.Push(place)) {
    Condemn(link, "its submit ring's head is out of bounds");
  } else if (port->bell.Ring()) {
    work->wakes.emplace_back(link->shared_from_this(), port);
  }
  return true;
}

void Pool::PutBack(FormedBatch* formed) {
  for (const BatchEntry& entry : formed->entries) batcher_.Enqueue(entry.request);
  formed->Clear();
}

// ---- completions ----

size_t Pool::Drain(int64_t late_ns) {
  Work work;
  {
    absl::MutexLock lock(&mu_);
    for (const std::shared_ptr<WorkerLink>& link : links_) {
      if (!link->condemned && link->inflight_batches > 0) TakeCompletions(link.get(), &work);
    }
    Dispatch(&work);
  }
  const size_t count = work.completed.size();
  for (const std::unique_ptr<InflightBatch>& batch : work.completed) {
    if (batch->completed.finished_ns >= late_ns) continue;
    model_->metrics.timeout_wakeups.fetch_add(1, std::memory_order_relaxed);
  }
  Carry(&work);
  return count;
}

void Pool::TakeCompletions(WorkerLink* link, Work* work) {
  for (LanePort& port : link->ports()) {
    while (port.inflight_count > 0 && port.completions.Pending()) {
      if (!TakeCompletion(link, &port, work)) return;
    }
  }
}

bool Pool::TakeCompletion(WorkerLink* link, LanePort* port, Work* work) {
  if (port->completions.Corrupt()) {
    Condemn(link, "its completion ring's tail is out of bounds");
    return false;
  }
  const uint32_t place = port->completions.Peek();
  if (place >= kRingEntries || port->inflight[place] == nullptr) {
    Condemn(link, "it completed a batch that it does not have");
    return false;
  }
  InflightBatch* batch = port->inflight[place].get();
  ExpectedCompletion expected;
  expected.batch_id = batch->id;
  expected.row_count = batch->formed.row_count;
  expected.lease_bytes = batch->lease->bytes();
  expected.lease_data = link->OutputData(batch->lease->offset());
  expected.batched_ns = batch->batched_ns;
  expected.now_ns = clock_->NowNs();
  uint64_t needed_bytes = 0;
  const absl::Status status = ReadCompletion(port->report->records[place], expected, model_->spec,
                                             &batch->completed, &needed_bytes);
  if (!status.ok()) {
    Condemn(link, std::string(status.message()));
    return false;
  }
  port->completions.Pop();
  ModelMetrics& metrics = model_->metrics;
  if (batch->formed.runs.size() > 1) metrics.gathered_batches.fetch_add(1);
  if (absl::IsDeadlineExceeded(batch->completed.failure)) metrics.skipped_batches.fetch_add(1);
  if (needed_bytes > 0) RetryWithLargerLease(batch, needed_bytes, *link, work);
  EndEntries(batch);
  work->completed.push_back(std::move(port->inflight[place]));
  EndBatch(link, port, place);
  return true;
}

// The rows have ended; whoever is still waited for gets a reply from Carry().
void Pool::EndEntries(InflightBatch* batch) {
  CompletedBatch& completed = batch->completed;
  completed.spec = &model_->spec;
  completed.metrics = &model_->metrics;
  completed.memory = batch->lease;
  completed.batched_ns = batch->batched_ns;
  completed.entries.swap(batch->formed.entries);
  int64_t waited_for = 0;
  for (const BatchEntry& entry : completed.entries) {
    batcher_.EndRows(entry.place, entry.row_count);
    if (entry.request == nullptr) continue;
    entry.request->state = RequestState::kEnded;
    ++waited_for;
  }
  inside_.fetch_sub(waited_for, std::memory_order_relaxed);
}

void Pool::EndBatch(WorkerLink* link, LanePort* port, uint32_t place) {
  port->inflight[place] = nullptr;
  --port->inflight_count;
  --link->inflight_batches;
  model_->metrics.running_batches.fetch_sub(1, std::memory_order_relaxed);
}

// The outputs did not fit: the requests go again, with a lease that holds them, if any can.
void Pool::RetryWithLargerLease(InflightBatch* batch, uint64_t needed_bytes, const WorkerLink& link,
                                Work* work) {
  const uint32_t rows = batch->formed.row_count;
  const bool possible = needed_bytes <= link.output_area_bytes() / 2;
  if (possible) learned_row_bytes_ = std::max(learned_row_bytes_, (needed_bytes + rows - 1) / rows);
  for (BatchEntry& entry : batch->formed.entries) {
    if (entry.request == nullptr) continue;
    if (possible) {
      batcher_.Enqueue(entry.request);
      NoteQueueOf(*entry.request, 1);
    } else {
      batcher_.EndRows(entry.place, entry.row_count);
      entry.request->state = RequestState::kEnded;
      inside_.fetch_sub(1, std::memory_order_relaxed);
      work->ended.emplace_back(
          entry.request, absl::ResourceExhaustedError("the outputs exceed the memory for answers"));
    }
    entry.request = nullptr;
    entry.row_count = 0;
  }
}

void Pool::Condemn(WorkerLink* link, const std::string& reason) {
  link->condemned = true;
  keeper_->Condemn(model_->name, link->worker(), reason);
}

void Pool::SetParked(bool parked) {
  absl::MutexLock lock(&mu_);
  for (const std::shared_ptr<WorkerLink>& link : links_) link->SetParked(parked);
}

// ---- supervision ----

void Pool::AddSlabSegment(OwnedSegment segment) {
  absl::MutexLock lock(&mu_);
  batcher_.slabs()->AddSegment(std::move(segment));
}

bool Pool::has_slabs() const {
  absl::MutexLock lock(&mu_);
  return !const_cast<Batcher&>(batcher_).slabs()->segments().empty();
}

std::vector<std::pair<int, uint64_t>> Pool::SlabDescriptors() const {
  absl::MutexLock lock(&mu_);
  std::vector<std::pair<int, uint64_t>> descriptors;
  for (const OwnedSegment& segment : const_cast<Batcher&>(batcher_).slabs()->segments()) {
    descriptors.emplace_back(segment.peer_fd(), segment.bytes());
  }
  return descriptors;
}

WorkerLink::Options Pool::LinkOptions(uint32_t worker, uint32_t epoch, uint32_t lanes) const {
  WorkerLink::Options options;
  options.worker = worker;
  options.epoch = epoch;
  options.lanes = lanes;
  options.output_bytes = OutputAreaBytes(model_->spec, lanes, options_.lane_depth);
  options.pin_limit_bytes = PinLimitBytes(model_->spec, lanes, options_.lane_depth);
  return options;
}

void Pool::Attach(std::shared_ptr<WorkerLink> link) {
  Work work;
  {
    absl::MutexLock lock(&mu_);
    links_.push_back(std::move(link));
    model_->metrics.workers_ready.store(static_cast<int64_t>(links_.size()));
    model_->ready.store(true);
    Dispatch(&work);
  }
  Carry(&work);
}

void Pool::Detach(uint32_t worker, WorkerEnd end) {
  Work work;
  {
    absl::MutexLock lock(&mu_);
    const auto is_it = [worker](const std::shared_ptr<WorkerLink>& link) {
      return link->worker() == worker;
    };
    const auto found = std::find_if(links_.begin(), links_.end(), is_it);
    if (found == links_.end()) return;
    const std::shared_ptr<WorkerLink> link = *found;
    links_.erase(found);
    model_->metrics.workers_ready.store(static_cast<int64_t>(links_.size()));
    model_->ready.store(!links_.empty());
    // What it completed before it died counts.
    if (!link->condemned) TakeCompletions(link.get(), &work);
    const bool one_batch = link->inflight_batches == 1;
    for (LanePort& port : link->ports()) {
      for (uint32_t place = 0; place < kRingEntries; ++place) {
        if (port.inflight[place] == nullptr) continue;
        DispatchAgain(port.inflight[place].get(), end, one_batch, &work);
        work.completed.push_back(std::move(port.inflight[place]));
        EndBatch(link.get(), &port, place);
      }
    }
    model_->metrics.timeout_wakeups.fetch_add(link->timeout_wakeups(), std::memory_order_relaxed);
    link->Detach();
    Dispatch(&work);
  }
  Carry(&work);
}

void Pool::DispatchAgain(InflightBatch* batch, WorkerEnd end, bool only_batch, Work* work) {
  const bool alone = only_batch && batch->formed.entries.size() == 1;
  for (const BatchEntry& entry : batch->formed.entries) {
    Request* request = entry.request;
    if (request == nullptr) {
      batcher_.EndRows(entry.place, entry.row_count);
      continue;
    }
    ++request->dispatches;
    const bool strike = alone && end == WorkerEnd::kCrashed;
    if (strike || request->dispatches >= kMaxDispatches) {
      batcher_.EndRows(entry.place, entry.row_count);
      request->state = RequestState::kEnded;
      inside_.fetch_sub(1, std::memory_order_relaxed);
      work->ended.emplace_back(request, strike ? absl::InternalError("request crashed its worker")
                                               : absl::UnavailableError("worker lost"));
      continue;
    }
    request->suspect = request->suspect || end == WorkerEnd::kCrashed;
    batcher_.Enqueue(request);
    NoteQueueOf(*request, 1);
    model_->metrics.dispatched_again.fetch_add(1, std::memory_order_relaxed);
  }
  batch->formed.Clear();
  batch->completed.entries.clear();
}

// ---- deadlines and endings ----

void Pool::Tick() {
  Work work;
  {
    absl::MutexLock lock(&mu_);
    const int64_t now_ns = clock_->NowNs();
    batcher_.TakeExpired(now_ns, &expired_);
    EndExpired(&expired_, &work);
    ExpireRunning(now_ns, &work);
    Dispatch(&work);
  }
  Carry(&work);
}

void Pool::EndExpired(std::vector<Request*>* expired, Work* work) {
  for (Request* request : *expired) {
    NoteQueueOf(*request, -1);
    inside_.fetch_sub(1, std::memory_order_relaxed);
    work->ended.emplace_back(request, absl::DeadlineExceededError("Request timeout expired"));
  }
  expired->clear();
}

void Pool::ExpireRunning(int64_t now_ns, Work* work) {
  for (const std::shared_ptr<WorkerLink>& link : links_) {
    for (LanePort& port : link->ports()) {
      for (uint32_t place = 0; place < kRingEntries; ++place) {
        if (port.inflight[place] == nullptr) continue;
        for (BatchEntry& entry : port.inflight[place]->formed.entries) {
          if (entry.request == nullptr || entry.request->deadline_ns > now_ns) continue;
          entry.request->state = RequestState::kEnded;
          inside_.fetch_sub(1, std::memory_order_relaxed);
          work->ended.emplace_back(entry.request,
                                   absl::DeadlineExceededError("Request timeout expired"));
          entry.request = nullptr;
        }
        CancelIfDead(&port, place);
      }
    }
  }
}

// Takes a request out of its running batch. Its rows stay until the batch ends.
bool Pool::AbandonRunning(Request* request) {
  if (request->state != RequestState::kRunning) return false;
  for (const std::shared_ptr<WorkerLink>& link : links_) {
    for (LanePort& port : link->ports()) {
      for (uint32_t place = 0; place < kRingEntries; ++place) {
        if (port.inflight[place] == nullptr) continue;
        for (BatchEntry& entry : port.inflight[place]->formed.entries) {
          if (entry.request != request) continue;
          entry.request = nullptr;
          request->state = RequestState::kEnded;
          CancelIfDead(&port, place);
          return true;
        }
      }
    }
  }
  return false;
}

void Pool::CancelIfDead(LanePort* port, uint32_t place) {
  const std::vector<BatchEntry>& entries = port->inflight[place]->formed.entries;
  const auto dead = [](const BatchEntry& entry) { return entry.request == nullptr; };
  if (!std::all_of(entries.begin(), entries.end(), dead)) return;
  port->mailbox->records[place].cancelled.store(1, std::memory_order_release);
}

void Pool::FailAll(const char* text) {
  Work work;
  {
    absl::MutexLock lock(&mu_);
    batcher_.TakeAll(&expired_);
    EndExpired(&expired_, &work);
    ExpireRunning(INT64_MAX, &work);
    for (auto& [request, status] : work.ended) status = absl::UnavailableError(text);
  }
  Carry(&work);
}

void Pool::Carry(Work* work) {
  for (const auto& [link, port] : work->wakes) port->bell.Wake();
  for (const std::unique_ptr<InflightBatch>& batch : work->completed) {
    replies_->Complete(batch->completed);
  }
  for (auto& [request, status] : work->ended) request->reply.Fail(status);
  if (work->completed.empty()) return;
  for (const std::unique_ptr<InflightBatch>& batch : work->completed) {
    std::exchange(batch->lease, nullptr)->Unref();
    model_->metrics.output_leases.fetch_sub(1, std::memory_order_relaxed);
  }
  absl::MutexLock lock(&mu_);
  for (std::unique_ptr<InflightBatch>& batch : work->completed) {
    spare_batches_.push_back(std::move(batch));
  }
}

}  // namespace mpsd
