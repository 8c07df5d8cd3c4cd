// Pool: how requests come in, and what supervise/ says about the workers.

#include "server/dispatch/pool.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "proto/base/failpoint.h"
#include "server/dispatch/output_sizing.h"

namespace mpsd {
namespace {

absl::Status Cancelled() { return absl::CancelledError("the client cancelled the call"); }

}  // namespace

Pool::Pool(ServedModel* model, const PoolOptions& options, const Clock* clock,
           CompletionSink* replies, PoolKeeper* keeper)
    : model_(model),
      options_(options),
      clock_(clock),
      replies_(replies),
      keeper_(keeper),
      queued_requests_gauge_(&model->metrics.queued_requests),
      queued_bytes_gauge_(&model->metrics.queued_bytes),
      input_slabs_gauge_(&model->metrics.input_slabs_leased),
      segment_bytes_gauge_(&model->metrics.slab_segment_bytes),
      output_leases_gauge_(&model->metrics.output_leases),
      pinned_bytes_gauge_(&model->metrics.pinned_output_bytes),
      workers_ready_gauge_(&model->metrics.workers_ready),
      batcher_(&model->spec, options.max_delay_ns) {
  MPSD_CHECK(options.lane_depth >= 1 && options.lane_depth <= kMaxLaneDepth);
}

Pool::~Pool() {
  for (const std::shared_ptr<WorkerLink>& link : links_) {
    MPSD_CHECK(link->inflight_batches == 0);
    link->Detach();
  }
}

absl::Status Pool::Reserve(Request* request, RowTargets* targets) {
  uint64_t bytes = 0;
  for (const RequestInput& input : request->inputs) bytes += input.Bytes(request->rows);
  const bool refuse = MPSD_FAILPOINT_ERRNO("dispatch.reserve") != 0;
  int64_t tick_by_ns = kNoTick;
  absl::Status status;
  {
    absl::MutexLock lock(&mu_);
    status = refuse ? FullError() : Place(request, bytes, targets, &tick_by_ns);
  }
  if (tick_by_ns != kNoTick) keeper_->WakeBy(tick_by_ns);
  return status;
}

absl::Status Pool::Place(Request* request, uint64_t bytes, RowTargets* targets,
                         int64_t* tick_by_ns) {
  if (closed_) return absl::AbortedError("the model was replaced");
  if (links_.empty() && request->deadline_ns <= worker_expected_ns_) return NoWorkerInTime();
  if (QueueIsFull(bytes)) return FullError();
  targets->later = false;
  const bool placed = batcher_.Reserve(request, targets).ok();
  WishForSlabs(tick_by_ns);
  if (!placed) {
    if (request->filler == nullptr || (wished_bytes_ == 0 && !growing_)) return FullError();
    request->Go(RequestState::kWaiting);
    waiting_.InsertByDeadline(request);
    targets->inputs.clear();
    targets->later = true;
  }
  request->queued_bytes = bytes;
  request->queue = this;
  NoteQueueOf(*request, 1);
  inside_.fetch_add(1, std::memory_order_relaxed);
  return absl::OkStatus();
}

bool Pool::QueueIsFull(uint64_t bytes) const {
  return queued_requests_ >= options_.queue_requests ||
         bytes > options_.queue_bytes - std::min(options_.queue_bytes, queued_bytes_);
}

void Pool::Commit(Request* request) {
  Work work;
  const bool quarantined = !quarantine_.empty() && IsQuarantined(*request);
  {
    absl::MutexLock lock(&mu_);
    batcher_.Enqueue(request);
    if (request->cancelled) {
      EndQueued(request, Cancelled(), &work);
    } else if (quarantined) {
      EndQueued(request, CrashedItsWorker(), &work);
      model_->metrics.quarantined_requests.fetch_add(1, std::memory_order_relaxed);
    } else {
      Dispatch(&work);
    }
  }
  Carry(&work);
}

void Pool::Cancel(Request* request) {
  Work work;
  {
    absl::MutexLock lock(&mu_);
    switch (request->state) {
      case RequestState::kReserved:
        request->cancelled = true;  // another thread fills its rows: Commit() ends it
        return;
      case RequestState::kQueued:
        EndQueued(request, Cancelled(), &work);
        break;
      case RequestState::kWaiting:
        waiting_.Remove(request);
        request->Go(RequestState::kEnded);
        NoteQueueOf(*request, -1);
        inside_.fetch_sub(1, std::memory_order_relaxed);
        work.ended.emplace_back(request, Cancelled());
        break;
      case RequestState::kRunning:
        if (!AbandonRunning(request)) return;
        inside_.fetch_sub(1, std::memory_order_relaxed);
        work.ended.emplace_back(request, Cancelled());
        break;
      case RequestState::kAnswering:
        GiveUp(request, Cancelled());
        return;
      case RequestState::kNew:
      case RequestState::kEnded:
        return;
    }
  }
  Carry(&work);
}

void Pool::EndQueued(Request* request, const absl::Status& status, Work* work) {
  batcher_.Remove(request);
  NoteQueueOf(*request, -1);
  inside_.fetch_sub(1, std::memory_order_relaxed);
  work->ended.emplace_back(request, status);
}

void Pool::NoteQueueOf(const Request& request, int sign) {
  queued_requests_ += static_cast<uint32_t>(sign);
  queued_bytes_ += static_cast<uint64_t>(sign) * request.queued_bytes;
  queued_requests_gauge_.Set(queued_requests_);
  queued_bytes_gauge_.Set(static_cast<int64_t>(queued_bytes_));
  NoteSlabs();
}

void Pool::NoteSlabs() {
  const SlabTable& slabs = batcher_.slab_table();
  input_slabs_gauge_.Set(slabs.leased_count());
  segment_bytes_gauge_.Set(static_cast<int64_t>(slabs.segment_bytes()));
}

// What is held of the workers' output areas, of those that are gone too.
void Pool::NoteLinks() {
  uint64_t pinned_bytes = 0;
  uint64_t leases = 0;
  const auto count = [&](const WorkerLink& link) {
    pinned_bytes += link.pinned_bytes();
    leases += link.leases_out();
  };
  for (const std::shared_ptr<WorkerLink>& link : links_) count(*link);
  std::erase_if(past_links_, [&](const std::weak_ptr<WorkerLink>& past) {
    const std::shared_ptr<WorkerLink> link = past.lock();
    if (link != nullptr) count(*link);
    return link == nullptr;
  });
  output_leases_gauge_.Set(static_cast<int64_t>(leases));
  pinned_bytes_gauge_.Set(static_cast<int64_t>(pinned_bytes));
}

void Pool::NoteWakeups(WorkerLink* link) {
  model_->metrics.timeout_wakeups.fetch_add(link->TakeTimeoutWakeups(), std::memory_order_relaxed);
}

uint64_t Pool::SlabBytes() const {
  absl::MutexLock lock(&mu_);
  return batcher_.slab_table().segment_bytes();
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
    workers_ready_gauge_.Set(static_cast<int64_t>(links_.size()));
    model_->ready.store(true);
    Dispatch(&work);
  }
  Carry(&work);
}

void Pool::Quiesce(uint32_t worker) {
  absl::MutexLock lock(&mu_);
  if (WorkerLink* link = Find(worker)) link->quiesced = true;
}

WorkerProgress Pool::Progress(uint32_t worker) const {
  WorkerProgress progress;
  absl::ReaderMutexLock lock(&mu_);
  WorkerLink* link = Find(worker);
  if (link == nullptr) return progress;
  progress.requests = link->answered_requests;
  progress.inflight = link->inflight_batches;
  for (const LanePort& port : link->ports()) {
    progress.lanes.push_back({port.inflight_count, port.completed,
                              port.report->heartbeat.load(std::memory_order_relaxed)});
  }
  return progress;
}

void Pool::ExpectWorkerAt(int64_t when_ns) {
  Work work;
  {
    absl::MutexLock lock(&mu_);
    worker_expected_ns_ = when_ns;
    if (!links_.empty() || when_ns == INT64_MIN) return;
    TakeExpiredWaiting(when_ns);
    batcher_.TakeExpired(when_ns, &expired_);
    EndExpired(&expired_, &work);
    for (auto& [request, status] : work.ended) status = NoWorkerInTime();
    NoteSlabs();
  }
  Carry(&work);
}

absl::Status Pool::NoWorkerInTime() const {
  return absl::UnavailableError(absl::StrCat("Request for model '", model_->name,
                                             "' is not at ready state: no worker can serve it"
                                             " before the deadline"));
}

WorkerLink* Pool::Find(uint32_t worker) const {
  const auto is_it = [worker](const auto& link) { return link->worker() == worker; };
  const auto found = std::find_if(links_.begin(), links_.end(), is_it);
  return found == links_.end() ? nullptr : found->get();
}

bool Pool::Detach(uint32_t worker, WorkerEnd end) {
  Work work;
  bool struck = false;
  {
    absl::MutexLock lock(&mu_);
    const auto is_it = [worker](const std::shared_ptr<WorkerLink>& link) {
      return link->worker() == worker;
    };
    const auto found = std::find_if(links_.begin(), links_.end(), is_it);
    if (found == links_.end()) return false;
    const std::shared_ptr<WorkerLink> link = *found;
    links_.erase(found);
    workers_ready_gauge_.Set(static_cast<int64_t>(links_.size()));
    model_->ready.store(!links_.empty());
    // What it completed before it died counts.
    if (!link->condemned) TakeCompletions(link.get(), &work);
    const bool one_batch = link->inflight_batches == 1;
    for (LanePort& port : link->ports()) {
      for (uint32_t place = 0; place < kRingEntries; ++place) {
        if (port.inflight[place] == nullptr) continue;
        port.inflight[place]->slot.Go(SlotState::kDead);
        struck |= DispatchAgain(port.inflight[place].get(), end, one_batch, &work);
        work.completed.push_back(std::move(port.inflight[place]));
        EndBatch(link.get(), &port, place);
      }
    }
    NoteWakeups(link.get());
    link->Detach();
    past_links_.push_back(link);
    Dispatch(&work);
    NoteSlabs();
  }
  Carry(&work);
  return struck;
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
  if (work->tick_by_ns != kNoTick) keeper_->WakeBy(work->tick_by_ns);
  for (const auto& [link, port] : work->wakes) port->bell.Wake();
  if (!work->completed.empty()) MPSD_FAILPOINT("complete.before_reply");
  for (const std::unique_ptr<InflightBatch>& batch : work->completed) {
    batch->slot.Go(SlotState::kReplying);
    replies_->Complete(batch->completed);
  }
  if (work->struck != nullptr) RememberStruck(work);
  for (auto& [request, status] : work->ended) request->reply.Fail(status);
  Recycle(work);
  for (const auto& [request, targets] : work->fills) {
    request->filler->Fill(model_->spec, *request, targets);
    Commit(request);
  }
}

// The batches' own references on their leases go; answers may hold others.
void Pool::Recycle(Work* work) {
  if (work->completed.empty()) return;
  for (const std::unique_ptr<InflightBatch>& batch : work->completed) {
    std::exchange(batch->lease, nullptr)->Unref();
  }
  absl::MutexLock lock(&mu_);
  for (std::unique_ptr<InflightBatch>& batch : work->completed) {
    batch->slot.Go(SlotState::kFree);
    spare_batches_.push_back(std::move(batch));
  }
  NoteLinks();
}

}  // namespace mpsd
