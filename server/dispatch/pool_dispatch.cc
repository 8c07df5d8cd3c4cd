// Pool: from the queue to the lanes.

#include <algorithm>
#include <utility>

#include "proto/base/check.h"
#include "proto/base/failpoint.h"
#include "server/dispatch/batch_record_writer.h"
#include "server/dispatch/output_sizing.h"
#include "server/dispatch/pool.h"

namespace mpsd {

void Pool::Dispatch(Work* work) {
  if (queued_requests_ == 0) return;
  const int64_t now_ns = clock_->NowNs();
  if (batcher_.has_suspects()) {
    while (DispatchSuspect(now_ns, work)) {
    }
  }
  WorkerLink* link = nullptr;
  while (LanePort* port = FreeLane(&link)) {
    std::unique_ptr<InflightBatch> batch = NewBatch();
    const bool formed = batcher_.Form(now_ns, &batch->formed, &expired_);
    EndExpired(&expired_, work);
    if (!formed) {
      spare_batches_.push_back(std::move(batch));
      const std::optional<int64_t> due_ns = batcher_.NextDueNs();
      if (due_ns.has_value()) work->tick_by_ns = std::min(work->tick_by_ns, *due_ns);
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
    if (!link->takes_batches()) continue;
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
    if (!candidate->takes_batches()) continue;
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

uint64_t Pool::OutputBytes(const FormedBatch& formed, const WorkerLink& link) const {
  const std::optional<uint64_t> known = KnownOutputBytes(model_->spec, formed.row_count);
  if (known.has_value()) return *known;
  return std::min(output_estimate_.row_bytes() * formed.row_count, LargestLeaseBytes(link));
}

// Sends the batch to the lane. False when the worker's output area has no room: the requests are
// back in the queue, and the next drain or tick tries again.
bool Pool::Submit(std::unique_ptr<InflightBatch> batch, WorkerLink* link, LanePort* port,
                  int64_t now_ns, Work* work) {
  batch->lease = link->LeaseOutput(OutputBytes(batch->formed, *link));
  if (batch->lease == nullptr) {
    PutBack(&batch->formed);
    spare_batches_.push_back(std::move(batch));
    return false;
  }
  batch->slot.Go(SlotState::kLeased);
  for (const BatchEntry& entry : batch->formed.entries) NoteQueueOf(*entry.request, -1);
  batch->id = BatchIdOf(next_batch_++, link->epoch());
  batch->batched_ns = now_ns;
  // A decoupled model takes one request at a time.
  const Request& first = *batch->formed.entries.front().request;
  batch->completed.answer_index = first.answers;
  const auto free_place = std::find(port->inflight.begin(), port->inflight.end(), nullptr);
  MPSD_CHECK(free_place != port->inflight.end() && port->inflight_count < kMaxLaneDepth);
  const auto place = static_cast<uint32_t>(free_place - port->inflight.begin());
  WriteBatchRecord(batch->formed, batch->id, *batch->lease, model_->spec.batches(), first.answers,
                   &port->mailbox->records[place]);
  batch->slot.Go(SlotState::kRunning);
  *free_place = std::move(batch);
  ++port->inflight_count;
  ++link->inflight_batches;
  model_->metrics.running_batches.fetch_add(1, std::memory_order_relaxed);
  MPSD_FAILPOINT("dispatch.before_ring");
  if (!port->submit.Push(place)) {  // the lane has credit, so this is no lack of room
    Condemn(link, "its submit ring's head is out of bounds");
  } else if (port->bell.Ring()) {
    work->wakes.emplace_back(link->shared_from_this(), port);
  }
  MPSD_FAILPOINT("dispatch.after_ring");
  return true;
}

void Pool::PutBack(FormedBatch* formed) {
  for (const BatchEntry& entry : formed->entries) batcher_.Enqueue(entry.request);
  formed->Clear();
}

}  // namespace mpsd
