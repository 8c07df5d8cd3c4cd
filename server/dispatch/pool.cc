#include "server/dispatch/pool.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "proto/base/failpoint.h"
#include "server/dispatch/output_sizing.h"
#include "server/schedule/eager_scheduler.h"

namespace mpsd {
namespace {

absl::Status Cancelled() { return absl::CancelledError("the client cancelled the call"); }

std::unique_ptr<const Scheduler> OrEager(std::unique_ptr<const Scheduler> scheduler,
                                         const PoolOptions& options) {
  if (scheduler != nullptr) return scheduler;
  return std::make_unique<EagerScheduler>(options.lane_depth, options.max_delay_ns);
}

}  // namespace

Pool::Pool(ServedModel* model, const PoolOptions& options, const Clock* clock,
           CompletionSink* replies, PoolKeeper* keeper, std::unique_ptr<const Scheduler> scheduler)
    : model_(model),
      options_(options),
      clock_(clock),
      replies_(replies),
      keeper_(keeper),
      scheduler_(OrEager(std::move(scheduler), options)),
      queue_(model, &model->metrics, {options.queue_requests, options.queue_bytes}, clock),
      inflight_(model, keeper),
      answering_(&queue_),
      dispatcher_(model, scheduler_.get(), clock, &queue_, &inflight_, &estimate_),
      intake_(model, clock, &queue_, &inflight_, &answering_, &estimate_),
      loss_(model, &queue_, &inflight_),
      link_gauges_(&model->metrics) {
  MPSD_CHECK(options.lane_depth >= 1 && options.lane_depth <= kMaxLaneDepth);
}

Pool::~Pool() { MPSD_CHECK(inside() == 0); }

// ---- requests ----

absl::Status Pool::Reserve(Request* request, RowTargets* targets) {
  uint64_t bytes = 0;
  for (const RequestInput& input : request->inputs) bytes += input.Bytes(request->rows);
  const bool refuse = MPSD_FAILPOINT_ERRNO("dispatch.reserve") != 0;
  int64_t tick_by_ns = DeferredWork::kNoTick;
  absl::Status status;
  {
    absl::MutexLock lock(&mu_);
    status = refuse ? queue_.FullError() : Admit(request, bytes, targets, &tick_by_ns);
  }
  if (tick_by_ns != DeferredWork::kNoTick) keeper_->WakeBy(tick_by_ns);
  return status;
}

absl::Status Pool::Admit(Request* request, uint64_t bytes, RowTargets* targets,
                         int64_t* tick_by_ns) {
  if (closed_) return absl::AbortedError("the model was replaced");
  if (inflight_.empty() && request->deadline_ns <= worker_expected_ns_) return NoWorkerInTime();
  absl::Status status = queue_.Admit(request, bytes, targets, tick_by_ns);
  if (!status.ok()) return status;
  request->queue = this;
  inside_.Add();
  return absl::OkStatus();
}

void Pool::Commit(Request* request) {
  DeferredWork work(&inside_);
  const bool quarantined = !quarantine_.empty() && IsQuarantined(*request);
  {
    absl::MutexLock lock(&mu_);
    queue_.Commit(request);
    if (request->cancelled) {
      queue_.Remove(request);
      work.End(request, Cancelled());
    } else if (quarantined) {
      queue_.Remove(request);
      work.End(request, WorkerLoss::CrashedItsWorker());
      model_->metrics.quarantined_requests.fetch_add(1, std::memory_order_relaxed);
    } else {
      dispatcher_.Dispatch(&work);
    }
  }
  Carry(&work);
}

void Pool::Continue(Request* request) {
  DeferredWork work(&inside_);
  {
    absl::MutexLock lock(&mu_);
    answering_.Remove(request);
    if (request->given_up.ok()) {
      queue_.Return(request);
      dispatcher_.Dispatch(&work);
    } else {
      work.End(request, request->given_up);
    }
  }
  Carry(&work);
}

void Pool::Cancel(Request* request) {
  DeferredWork work(&inside_);
  {
    absl::MutexLock lock(&mu_);
    switch (request->state) {
      case RequestState::kReserved:
        request->cancelled = true;  // another thread fills its rows: Commit() ends it
        return;
      case RequestState::kWaiting:
      case RequestState::kQueued:
        queue_.Remove(request);
        work.End(request, Cancelled());
        break;
      case RequestState::kRunning:
        inflight_.Abandon(request);
        work.End(request, Cancelled());
        break;
      case RequestState::kAnswering:
        answering_.GiveUp(request, Cancelled());
        return;
      case RequestState::kNew:
      case RequestState::kEnded:
        return;
    }
  }
  Carry(&work);
}

void Pool::Close() {
  absl::MutexLock lock(&mu_);
  closed_ = true;
}

// ---- completions and time ----

size_t Pool::Drain(bool after_timeout) {
  DeferredWork work(&inside_);
  work.after_timeout = after_timeout;
  {
    absl::MutexLock lock(&mu_);
    intake_.Take(&work);
    queue_.PlaceWaiting(&work.fills, &work.tick_by_ns);
    dispatcher_.Dispatch(&work);
    queue_.NoteSlabs();
  }
  const size_t count = work.completed.size();
  Carry(&work);
  return count;
}

void Pool::NoteAnnounced() {
  absl::MutexLock lock(&mu_);
  const auto lanes = static_cast<uint32_t>(inflight_.lanes().size());
  for (uint32_t lane = 0; lane < lanes; ++lane) inflight_.port(lane)->NoteAnnounced();
}

void Pool::SetParked(bool parked) {
  absl::MutexLock lock(&mu_);
  const auto workers = static_cast<uint32_t>(inflight_.workers().size());
  for (uint32_t worker = 0; worker < workers; ++worker) inflight_.link(worker)->SetParked(parked);
}

void Pool::Tick() {
  DeferredWork work(&inside_);
  {
    absl::MutexLock lock(&mu_);
    const int64_t now_ns = clock_->NowNs();
    EndExpired(now_ns, absl::StatusCode::kDeadlineExceeded, "Request timeout expired", &work);
    queue_.PlaceWaiting(&work.fills, &work.tick_by_ns);
    dispatcher_.Dispatch(&work);
    queue_.rate()->Measure(now_ns);
    queue_.NoteSlabs();
    link_gauges_.Note(inflight_);
    const auto workers = static_cast<uint32_t>(inflight_.workers().size());
    for (uint32_t worker = 0; worker < workers; ++worker) NoteWakeups(inflight_.link(worker).get());
  }
  Carry(&work);
}

void Pool::FailAll(const char* text) {
  DeferredWork work(&inside_);
  {
    absl::MutexLock lock(&mu_);
    EndExpired(INT64_MAX, absl::StatusCode::kUnavailable, text, &work);
    queue_.NoteSlabs();
  }
  Carry(&work);
}

void Pool::EndExpired(int64_t until_ns, absl::StatusCode code, const char* text,
                      DeferredWork* work) {
  queue_.TakeExpired(until_ns, &taken_);
  inflight_.TakeExpired(until_ns, &taken_);
  // A status is made only where there is a request to end, since it takes memory from the heap.
  if (!taken_.empty()) work->EndAll(&taken_, absl::Status(code, text));
  if (!answering_.empty()) answering_.GiveUpExpired(until_ns, absl::Status(code, text));
}

// ---- memory ----

void Pool::AddSlabSegment(OwnedSegment segment, uint32_t number) {
  DeferredWork work(&inside_);
  {
    absl::MutexLock lock(&mu_);
    queue_.slabs()->AddSegment(std::move(segment), number);
    queue_.growth()->Granted();
    queue_.NoteSlabs();
    queue_.PlaceWaiting(&work.fills, &work.tick_by_ns);
  }
  Carry(&work);
}

std::optional<uint64_t> Pool::TakeGrowthRequest() {
  absl::MutexLock lock(&mu_);
  return queue_.growth()->Take(queue_.slabs()->segment_bytes());
}

void Pool::RefuseSlabs() {
  DeferredWork work(&inside_);
  {
    absl::MutexLock lock(&mu_);
    queue_.growth()->Refused(clock_->NowNs());
    queue_.TakeWaiting(INT64_MAX, &taken_);
    work.EndAll(&taken_, queue_.FullError());
  }
  Carry(&work);
}

std::optional<uint32_t> Pool::RetireIdleSegment(uint32_t idle_calls) {
  absl::MutexLock lock(&mu_);
  return queue_.RetireIdle(idle_calls);
}

OwnedSegment Pool::RemoveSlabSegment(uint32_t number) {
  absl::MutexLock lock(&mu_);
  OwnedSegment segment = queue_.slabs()->RemoveSegment(number);
  queue_.NoteSlabs();
  return segment;
}

std::vector<SlabSegment> Pool::SlabDescriptors() const {
  absl::MutexLock lock(&mu_);
  return queue_.batcher().slab_table().Segments();
}

uint64_t Pool::SlabBytes() const {
  absl::MutexLock lock(&mu_);
  return queue_.batcher().slab_table().segment_bytes();
}

// ---- workers ----

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
  DeferredWork work(&inside_);
  {
    absl::MutexLock lock(&mu_);
    inflight_.Attach(std::move(link));
    NoteWorkers();
    dispatcher_.Dispatch(&work);
  }
  Carry(&work);
}

void Pool::Quiesce(uint32_t worker) {
  absl::MutexLock lock(&mu_);
  const std::optional<uint32_t> index = inflight_.Find(worker);
  if (index.has_value()) inflight_.Quiesce(*index);
}

WorkerProgress Pool::Progress(uint32_t worker) const {
  WorkerProgress progress;
  absl::ReaderMutexLock lock(&mu_);
  const std::optional<uint32_t> index = inflight_.Find(worker);
  if (!index.has_value()) return progress;
  const WorkerView& view = inflight_.workers()[*index];
  progress.requests = inflight_.answered_requests(*index);
  progress.inflight = view.batches;
  const uint32_t end = view.first_lane + inflight_.link(*index)->lanes();
  for (uint32_t lane = view.first_lane; lane < end; ++lane) {
    const LanePort& port = *inflight_.port(lane);
    progress.lanes.push_back({inflight_.lanes()[lane].batches, port.completed,
                              port.report->heartbeat.load(std::memory_order_relaxed)});
  }
  return progress;
}

void Pool::ExpectWorkerAt(int64_t when_ns) {
  DeferredWork work(&inside_);
  {
    absl::MutexLock lock(&mu_);
    worker_expected_ns_ = when_ns;
    if (!inflight_.empty() || when_ns == INT64_MIN) return;
    queue_.TakeExpired(when_ns, &taken_);
    work.EndAll(&taken_, NoWorkerInTime());
    queue_.NoteSlabs();
  }
  Carry(&work);
}

absl::Status Pool::NoWorkerInTime() const {
  return absl::UnavailableError(absl::StrCat("Request for model '", model_->name,
                                             "' is not at ready state: no worker can serve it"
                                             " before the deadline"));
}

bool Pool::Detach(uint32_t worker, WorkerEnd end) {
  DeferredWork work(&inside_);
  bool struck = false;
  {
    absl::MutexLock lock(&mu_);
    const std::optional<uint32_t> index = inflight_.Find(worker);
    if (!index.has_value()) return false;
    intake_.TakeOf(*index, &work);  // what it completed before it died counts
    struck = loss_.TakeBatches(*index, end, &work);
    const std::shared_ptr<WorkerLink> link = inflight_.Remove(*index);
    NoteWakeups(link.get());
    link->Detach();
    link_gauges_.AddPast(link);
    NoteWorkers();
    dispatcher_.Dispatch(&work);
    queue_.NoteSlabs();
  }
  Carry(&work);
  return struck;
}

void Pool::NoteWorkers() {
  model_->ready.store(!inflight_.empty());
  link_gauges_.Note(inflight_);
}

void Pool::NoteWakeups(WorkerLink* link) {
  model_->metrics.timeout_wakeups.fetch_add(link->TakeTimeoutWakeups(), std::memory_order_relaxed);
}

// ---- without the mutex ----

bool Pool::IsQuarantined(const Request& request) {
  RowTargets rows;
  {
    absl::MutexLock lock(&mu_);
    queue_.batcher().Locate(request, &rows);
  }
  return quarantine_.Holds(HashContent(request, rows), clock_->NowNs());
}

// Before any client is told of the strike, so that a client that asks again is refused.
void Pool::RememberStruck(DeferredWork* work) {
  const Request& request = *work->struck;
  quarantine_.Add(HashContent(request, work->struck_rows), clock_->NowNs());
  absl::MutexLock lock(&mu_);
  loss_.EndStruckRows(request);
}

void Pool::Carry(DeferredWork* work) {
  if (work->tick_by_ns != DeferredWork::kNoTick) keeper_->WakeBy(work->tick_by_ns);
  for (const auto& [link, port] : work->wakes) port->bell.Wake();
  if (!work->completed.empty()) MPSD_FAILPOINT("complete.before_reply");
  for (const std::unique_ptr<InflightBatch>& batch : work->completed) {
    batch->life.Go(SlotState::kReplying);
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
void Pool::Recycle(DeferredWork* work) {
  if (work->completed.empty()) return;
  for (const std::unique_ptr<InflightBatch>& batch : work->completed) {
    std::exchange(batch->lease, nullptr)->Unref();
  }
  absl::MutexLock lock(&mu_);
  for (std::unique_ptr<InflightBatch>& batch : work->completed) {
    dispatcher_.Recycle(std::move(batch));
  }
  link_gauges_.Note(inflight_);
}

void Pool::CheckInvariants() const {
  absl::MutexLock lock(&mu_);
  uint64_t rows = queue_.CheckInvariants() + loss_.struck_rows();
  inflight_.CheckInvariants();
  const Batcher& batcher = queue_.batcher();
  int64_t requests = queue_.requests();
  inflight_.ForEach([&](InflightTable::Position, const InflightBatch* batch) {
    batcher.CheckCovers(batch->formed);
    rows += batch->formed.row_count;
    for (const BatchEntry& entry : batch->formed.entries) {
      requests += entry.request == nullptr ? 0 : 1;
    }
  });
  answering_.ForEach([&](const Request& request) {
    ++requests;
    rows += request.given_up.ok() ? request.rows : 0;
  });
  MPSD_CHECK(requests == inside());
  MPSD_CHECK(rows == batcher.slab_table().live_rows());
}

}  // namespace mpsd
