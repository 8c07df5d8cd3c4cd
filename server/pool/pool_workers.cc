#include "server/pool/pool_workers.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "server/pool/lanes/output_sizing.h"
#include "server/pool/loss_policy.h"
#include "server/pool/pool_carrier.h"
#include "server/pool/pool_parts.h"
#include "server/request/pool_watcher.h"

namespace mpsd {
namespace {

// Whether a running request runs again if somebody kills its worker.
bool WouldRunAgain(const Request& request) {
  Loss loss;
  loss.is_suspect = request.suspect;
  loss.dispatches = request.dispatches + 1;
  loss.answers = request.answers;
  loss.is_pinned = request.pin != 0;
  return JudgeLoss(loss) != LossVerdict::kWorkerLost;
}

// Whether these lanes have requests, and each would run again.
bool CanMove(const InflightTable& inflight, uint32_t first_lane, uint32_t end) {
  uint32_t waiting = 0;
  uint32_t movable = 0;
  for (uint32_t lane = first_lane; lane < end; ++lane) {
    inflight.ForEachOf(lane, [&](InflightTable::Position, const InflightBatch* batch) {
      for (const BatchEntry& entry : batch->formed.entries) {
        if (entry.request == nullptr) continue;
        ++waiting;
        movable += WouldRunAgain(*entry.request) ? 1 : 0;
      }
    });
  }
  return waiting > 0 && movable == waiting;
}

void NoteWorkers(PoolParts* parts) ABSL_EXCLUSIVE_LOCKS_REQUIRED(parts->mu) {
  parts->forecasts.slow_workers.Judge();
  parts->facts.model->ready.store(!parts->inflight.workers().empty());
  parts->link_gauges.Note(parts->inflight);
}

}  // namespace

uint64_t PoolWorkers::LargestAnswerBytes() const {
  absl::ReaderMutexLock lock(&parts_->mu);
  return parts_->forecasts.estimate.largest_answer_bytes();
}

WorkerLink::Options PoolWorkers::LinkOptions(uint32_t worker, uint32_t epoch, uint32_t lanes,
                                             AreaKind kind) const {
  WorkerLink::Options options;
  options.worker = worker;
  options.epoch = epoch;
  options.lanes = lanes;
  options.outputs = OutputAreaOf(kind, parts_->facts.model->spec, lanes,
                                 parts_->facts.options.lane_depth, LargestAnswerBytes());
  return options;
}

bool PoolWorkers::IsTooSmall(uint32_t worker) const {
  absl::ReaderMutexLock lock(&parts_->mu);
  const std::optional<uint32_t> index = parts_->inflight.Find(worker);
  if (!index.has_value()) return false;
  return parts_->inflight.worker(*index).link->outputs().largest_lease_bytes <
         parts_->forecasts.estimate.largest_answer_bytes();
}

void PoolWorkers::KeepSize(int64_t until_ns) {
  DeferredWork work(&parts_->inside);
  {
    absl::MutexLock lock(&parts_->mu);
    parts_->forecasts.estimate.ForgetTooLarge(until_ns);
    parts_->queue.TakeHeld(INT64_MAX, &parts_->taken);
    for (Request* request : parts_->taken) {
      work.End(request, NoMemoryForOutputs(request->output_bytes));
    }
    parts_->taken.clear();
  }
  carrier_->Carry(&work);
}

void PoolWorkers::Attach(std::shared_ptr<WorkerLink> link) {
  DeferredWork work(&parts_->inside);
  const std::vector<uint64_t> pins = link->Pins();
  const uint64_t largest_lease_bytes = link->outputs().largest_lease_bytes;
  {
    absl::MutexLock lock(&parts_->mu);
    parts_->inflight.Attach(std::move(link));
    parts_->queue.ReturnHeld(largest_lease_bytes);
    parts_->claims.Attach(static_cast<uint32_t>(parts_->inflight.workers().size()) - 1);
    NoteWorkers(parts_);
    parts_->dispatcher.Dispatch(&work);
  }
  carrier_->Carry(&work);
  if (parts_->watcher != nullptr) parts_->watcher->LanesJoined(pins);
}

void PoolWorkers::Quiesce(uint32_t worker) {
  std::shared_ptr<WorkerLink> link;
  {
    absl::MutexLock lock(&parts_->mu);
    const std::optional<uint32_t> index = parts_->inflight.Find(worker);
    if (!index.has_value()) return;
    parts_->inflight.Quiesce(*index);
    link = parts_->inflight.worker(*index).link;
  }
  if (parts_->watcher != nullptr) parts_->watcher->LanesLeft(link->Pins());
}

void PoolWorkers::SetPaused(uint32_t worker, bool is_paused) {
  DeferredWork work(&parts_->inside);
  {
    absl::MutexLock lock(&parts_->mu);
    const std::optional<uint32_t> index = parts_->inflight.Find(worker);
    if (!index.has_value()) return;
    parts_->inflight.SetPaused(*index, is_paused);
    parts_->dispatcher.Dispatch(&work);
  }
  carrier_->Carry(&work);
}

WorkerProgress PoolWorkers::Progress(uint32_t worker) const {
  WorkerProgress progress;
  absl::ReaderMutexLock lock(&parts_->mu);
  const std::optional<uint32_t> index = parts_->inflight.Find(worker);
  if (!index.has_value()) return progress;
  const WorkerView view = parts_->inflight.workers()[*index];
  progress.requests = parts_->inflight.worker(*index).answered_requests;
  progress.inflight = view.batches;
  progress.slowness = view.slowness;
  const uint32_t end = view.first_lane + parts_->inflight.worker(*index).link->lanes();
  for (uint32_t lane = view.first_lane; lane < end; ++lane) {
    const LanePort& port = *parts_->inflight.port(lane);
    progress.lanes.push_back({parts_->inflight.lanes()[lane].batches, port.completed,
                              port.report->heartbeat.load(std::memory_order_relaxed)});
  }
  progress.can_move = CanMove(parts_->inflight, view.first_lane, end);
  return progress;
}

void PoolWorkers::ExpectAt(int64_t when_ns) {
  DeferredWork work(&parts_->inside);
  {
    absl::MutexLock lock(&parts_->mu);
    parts_->worker_expected_ns = when_ns;
    if (parts_->inflight.workers().empty() && when_ns != INT64_MIN) {
      parts_->queue.TakeExpired(when_ns, &parts_->taken);
      work.EndAll(&parts_->taken, NoWorkerInTime(parts_->facts.model->name));
      parts_->queue.NoteSlabs();
    }
  }
  carrier_->Carry(&work);
  if (parts_->watcher != nullptr) parts_->watcher->ExpectAt(when_ns);
}

Conviction PoolWorkers::Detach(uint32_t worker, WorkerEnd end) {
  DeferredWork work(&parts_->inside);
  std::vector<uint64_t> pins;
  Conviction conviction = Conviction::kNone;
  {
    absl::MutexLock lock(&parts_->mu);
    const std::optional<uint32_t> index = parts_->inflight.Find(worker);
    if (!index.has_value()) return conviction;
    parts_->intake.TakeOf(*index, &work);
    conviction = parts_->loss.TakeBatches(*index, end, &work);
    const std::shared_ptr<WorkerLink> link = parts_->inflight.Remove(*index);
    link->Detach();
    pins = link->Pins();
    parts_->link_gauges.AddPast(link);
    NoteWorkers(parts_);
    parts_->dispatcher.Dispatch(&work);
    parts_->queue.NoteSlabs();
  }
  if (parts_->watcher != nullptr) parts_->watcher->LanesLeft(pins);
  carrier_->Carry(&work);
  return conviction;
}

}  // namespace mpsd
