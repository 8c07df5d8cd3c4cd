// Pool: how requests come in, and what supervise/ says about the workers.

#include "server/dispatch/pool.h"

#include <algorithm>
#include <utility>

#include "proto/base/check.h"
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

absl::Status Pool::Reserve(Request* request, RowTargets* targets) {
  uint64_t bytes = 0;
  for (const RequestInput& input : request->inputs) bytes += input.row_bytes * request->rows;
  absl::MutexLock lock(&mu_);
  if (closed_) return absl::AbortedError("the model was replaced");
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
      NoteSlabs();
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
  NoteSlabs();
}

void Pool::NoteSlabs() {
  model_->metrics.input_slabs_leased.store(batcher_.slabs()->leased_count(),
                                           std::memory_order_relaxed);
}

void Pool::NoteLinks() {
  uint64_t pinned_bytes = 0;
  for (const std::shared_ptr<WorkerLink>& link : links_) {
    pinned_bytes += link->pinned_bytes();
    model_->metrics.timeout_wakeups.fetch_add(link->TakeTimeoutWakeups(),
                                              std::memory_order_relaxed);
  }
  model_->metrics.pinned_output_bytes.store(static_cast<int64_t>(pinned_bytes),
                                            std::memory_order_relaxed);
}

void Pool::AddSlabSegment(OwnedSegment segment) {
  absl::MutexLock lock(&mu_);
  batcher_.slabs()->AddSegment(std::move(segment));
}

std::vector<std::pair<int, uint64_t>> Pool::SlabDescriptors() const {
  absl::MutexLock lock(&mu_);
  std::vector<std::pair<int, uint64_t>> descriptors;
  for (const OwnedSegment& segment : const_cast<Batcher&>(batcher_).slabs()->segments()) {
    descriptors.emplace_back(segment.peer_fd(), segment.bytes());
  }
  return descriptors;
}

uint64_t Pool::SlabBytes() const {
  uint64_t bytes = 0;
  for (const auto& [fd, segment_bytes] : SlabDescriptors()) bytes += segment_bytes;
  return bytes;
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
    model_->metrics.timeout_wakeups.fetch_add(link->TakeTimeoutWakeups(),
                                              std::memory_order_relaxed);
    link->Detach();
    Dispatch(&work);
    NoteSlabs();
  }
  Carry(&work);
}

void Pool::Close() {
  absl::MutexLock lock(&mu_);
  closed_ = true;
}

void Pool::SetParked(bool parked) {
  absl::MutexLock lock(&mu_);
  for (const std::shared_ptr<WorkerLink>& link : links_) link->SetParked(parked);
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
