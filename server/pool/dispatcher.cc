#include "server/pool/dispatcher.h"

#include <algorithm>
#include <utility>

#include "proto/base/check.h"
#include "proto/base/clock.h"
#include "proto/base/failpoint.h"
#include "server/pool/lanes/batch_record_writer.h"
#include "server/pool/lanes/output_sizing.h"

namespace mpsd {
namespace {

// Weight of one batch in the mean of the last few.
constexpr double kUsualShare = 1.0 / 4;

}  // namespace

void Dispatcher::Dispatch(DeferredWork* work) {
  if (queue_->ledger()->requests() == 0) return NoteLeft(work);
  DispatchAt(facts_->clock->NowNs(), work);
}

void Dispatcher::NoteLeft(DeferredWork* work) {
  if (queue_->ledger()->requests() > 0) return;
  claims_->BeginPass();
  claims_->EndPass(work);
}

bool Dispatcher::IsHeld() {
  if (queue_->ledger()->requests() >= held_requests_) held_requests_ = 0;
  return held_requests_ > 0;
}

void Dispatcher::DispatchAt(int64_t now_ns, DeferredWork* work) {
  if (IsHeld()) return;
  claims_->BeginPass();
  CarryOutDecisions(now_ns, work);
  claims_->EndPass(work);
}

void Dispatcher::CarryOutDecisions(int64_t now_ns, DeferredWork* work) {
  ClearOutputRoom();
  while (true) {
    const SchedulerDecision decision = facts_->options.scheduler->Decide(Snapshot(now_ns), now_ns);
    switch (decision.step) {
      case SchedulerDecision::Step::kWait:
        return work->TickBy(decision.at_ns);
      case SchedulerDecision::Step::kKeepWorker:
        inflight_->Keep(decision.worker);
        break;
      case SchedulerDecision::Step::kDrop:
        Drop(decision, now_ns, work);
        break;
      case SchedulerDecision::Step::kRun:
        Run(decision, now_ns, work);
        break;
    }
  }
}

SchedulerSnapshot Dispatcher::Snapshot(int64_t now_ns) const {
  const Batcher& batcher = queue_->batcher();
  return {.lines = batcher.lines(),
          .suspects = batcher.suspects(),
          .lanes = inflight_->lanes(),
          .workers = inflight_->workers(),
          .max_batch_rows = batcher.max_rows(),
          .usual_batch_rows = static_cast<uint32_t>(usual_rows_ + 0.5),
          .returns = forecasts_->returns.Expect(now_ns)};
}

bool Dispatcher::IsPinned(const SchedulerDecision& decision) const {
  return decision.line != SchedulerDecision::kSuspects &&
         queue_->batcher().lines()[decision.line].pin != 0;
}

void Dispatcher::ClearOutputRoom() {
  if (!std::exchange(room_missed_, false)) return;
  const size_t workers = inflight_->workers().size();
  for (uint32_t i = 0; i < workers; ++i) inflight_->view(i)->has_output_room = true;
}

void Dispatcher::Drop(const SchedulerDecision& decision, int64_t now_ns, DeferredWork* work) {
  const uint32_t delayed =
      queue_->TakeExpiredOf(decision.line, decision.rank, decision.at_ns, &dropped_);
  MPSD_CHECK(delayed > 0 || !dropped_.empty());
  const auto given_up =
      std::count_if(dropped_.begin(), dropped_.end(),
                    [&](const Request* request) { return request->deadline_ns > now_ns; });
  facts_->model->metrics.given_up_requests.fetch_add(static_cast<uint64_t>(given_up),
                                                     std::memory_order_relaxed);
  // A request that is given up is as good as late.
  for (const Request* request : dropped_) forecasts_->Left(*request, request->deadline_ns);
  work->EndAll(&dropped_, absl::DeadlineExceededError("Request timeout expired"));
}

// If the worker's output area has no room, the requests are back in their line. Without resources
// nothing is done. The views say so.
void Dispatcher::Run(const SchedulerDecision& decision, int64_t now_ns, DeferredWork* work) {
  const uint32_t worker = inflight_->lanes()[decision.lane].worker;
  const bool suspects = decision.line == SchedulerDecision::kSuspects;
  const WorkerView view = inflight_->workers()[worker];
  MPSD_CHECK(view.may_run() && view.has_output_room);
  MPSD_CHECK(!suspects || (view.kept && view.batches == 0));
  ResourceClaim* claim = nullptr;
  if (!claims_->Take(worker, &claim, work)) return;
  WorkerLink* link = inflight_->worker(worker).link.get();
  std::unique_ptr<InflightBatch> batch = NewBatch();
  batch->curve = facts_->model->spec.decoupled ? nullptr : queue_->batcher().curve(decision.line);
  batch->claim = claim;
  queue_->Form(decision.line, MostRows(decision, *link), &batch->formed);
  batch->lease = link->LeaseOutput(LeaseBytes(batch->formed, *link));
  if (batch->lease == nullptr) {
    queue_->PutBack(&batch->formed);
    claims_->PutBack(batch.get(), work);
    spare_batches_.push_back(std::move(batch));
    inflight_->view(worker)->has_output_room = false;
    room_missed_ = true;
    return;
  }
  batch->life.Go(SlotState::kLeased);
  for (const BatchEntry& entry : batch->formed.entries) entry.request->EndWait();
  batch->id = BatchIdOf(next_batch_++, link->epoch());
  batch->batched_ns = now_ns;
  forecasts_->Started(batch->formed, now_ns);
  usual_rows_ += (batch->formed.row_count - usual_rows_) * kUsualShare;
  // A decoupled model takes one request at a time.
  batch->completed.answer_index = batch->formed.entries.front().request->answers;
  Submit(std::move(batch), decision.lane, work);
}

void Dispatcher::Submit(std::unique_ptr<InflightBatch> batch, uint32_t lane, DeferredWork* work) {
  const uint32_t slot = inflight_->FreeSlot(lane);
  const uint32_t worker = inflight_->lanes()[lane].worker;
  LanePort* port = inflight_->port(lane);
  WriteBatchRecord(batch->formed, batch->id, *batch->lease, facts_->model->spec.batches(),
                   batch->completed.answer_index, &port->mailbox->records[slot]);
  batch->life.Go(SlotState::kRunning);
  const LatencyCurve* curve = batch->curve;
  const int64_t expected_ns = IsKnown(curve) ? curve->MeanNs(batch->formed.row_count) : 0;
  inflight_->Start({lane, slot}, std::move(batch), expected_ns);
  MPSD_FAILPOINT("dispatch.before_ring");
  if (!port->submit.Push(slot)) {  // the lane has credit, so this is no lack of room
    inflight_->Condemn(worker, "its submit ring's head is out of bounds");
  } else if (port->bell.Ring()) {
    work->wakes.emplace_back(inflight_->worker(worker).link, port);
  }
  MPSD_FAILPOINT("dispatch.after_ring");
}

// Pinned requests run only once. So their batches are no larger than what certainly fits.
uint32_t Dispatcher::MostRows(const SchedulerDecision& decision, const WorkerLink& link) const {
  const uint64_t row_bytes = forecasts_->estimate.row_bytes();
  if (row_bytes == 0 || !IsPinned(decision)) return decision.max_rows;
  const uint64_t rows = std::max<uint64_t>(link.outputs().largest_lease_bytes / row_bytes, 1);
  return static_cast<uint32_t>(std::min<uint64_t>(rows, decision.max_rows));
}

uint64_t Dispatcher::LeaseBytes(const FormedBatch& formed, const WorkerLink& link) const {
  const std::optional<uint64_t> known = KnownOutputBytes(facts_->model->spec, formed.row_count);
  if (known.has_value()) return *known;
  // Pinned requests run only once, so that a lease which is too small would end them.
  const Request& first = *formed.entries.front().request;
  const uint64_t least = first.pin == 0 ? first.output_bytes : LaneLeaseBytes(facts_->model->spec);
  const uint64_t guess = std::max(forecasts_->estimate.row_bytes() * formed.row_count, least);
  return std::min(guess, link.outputs().largest_lease_bytes);
}

std::unique_ptr<InflightBatch> Dispatcher::NewBatch() {
  if (spare_batches_.empty()) return std::make_unique<InflightBatch>();
  std::unique_ptr<InflightBatch> batch = std::move(spare_batches_.back());
  spare_batches_.pop_back();
  MPSD_CHECK(batch->life.state() == SlotState::kFree && batch->lease == nullptr);
  return batch;
}

void Dispatcher::Recycle(std::unique_ptr<InflightBatch> batch) {
  batch->life.Go(SlotState::kFree);
  spare_batches_.push_back(std::move(batch));
}

}  // namespace mpsd
