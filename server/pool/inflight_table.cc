#include "server/pool/inflight_table.h"

#include <algorithm>
#include <utility>

#include "proto/base/check.h"

namespace mpsd {
namespace {

// If nobody waits for the batch any more it is abandoned, and the lane may skip it.
void CancelIfDead(InflightBatch* batch, BatchRecord* record) {
  if (batch->life.state() == SlotState::kAbandoned) return;
  const std::vector<BatchEntry>& entries = batch->formed.entries;
  const auto dead = [](const BatchEntry& entry) { return entry.request == nullptr; };
  if (!std::all_of(entries.begin(), entries.end(), dead)) return;
  batch->life.Go(SlotState::kAbandoned);
  record->cancelled.store(1, std::memory_order_release);
}

}  // namespace

InflightTable::~InflightTable() {
  for (const Worker& worker : workers_) worker.link->Detach();
  for (const LaneView& lane : lane_views_) MPSD_CHECK(lane.batches == 0);
}

void InflightTable::Attach(std::shared_ptr<WorkerLink> link) {
  MPSD_CHECK(!Find(link->worker()).has_value());
  const auto worker = static_cast<uint32_t>(workers_.size());
  views_.push_back({.first_lane = static_cast<uint32_t>(lanes_.size()),
                    .largest_lease_bytes = link->outputs().largest_lease_bytes});
  for (LanePort& port : link->ports()) lanes_.emplace_back().port = &port;
  for (const uint64_t pin : link->Pins()) lane_views_.push_back({.worker = worker, .pin = pin});
  workers_.push_back({.link = std::move(link), .joined_late = has_run_});
}

std::shared_ptr<WorkerLink> InflightTable::Remove(uint32_t worker) {
  MPSD_CHECK(views_[worker].batches == 0);
  std::shared_ptr<WorkerLink> link = std::move(workers_[worker].link);
  const uint32_t first = views_[worker].first_lane;
  const uint32_t count = link->lanes();
  lanes_.erase(lanes_.begin() + first, lanes_.begin() + first + count);
  lane_views_.erase(lane_views_.begin() + first, lane_views_.begin() + first + count);
  workers_.erase(workers_.begin() + worker);
  views_.erase(views_.begin() + worker);
  for (size_t lane = first; lane < lane_views_.size(); ++lane) --lane_views_[lane].worker;
  for (size_t later = worker; later < views_.size(); ++later) views_[later].first_lane -= count;
  return link;
}

std::optional<uint32_t> InflightTable::Find(uint32_t number) const {
  for (uint32_t worker = 0; worker < workers_.size(); ++worker) {
    if (workers_[worker].link->worker() == number) return worker;
  }
  return std::nullopt;
}

void InflightTable::Condemn(uint32_t worker, const std::string& reason) {
  workers_[worker].condemned = true;
  views_[worker].takes_batches = false;
  const WorkerLink& link = *workers_[worker].link;
  keeper_->Condemn(*model_, link.worker(), link.epoch(), reason);
}

void InflightTable::Keep(uint32_t worker) {
  for (WorkerView& view : views_) {
    MPSD_CHECK(!view.kept || !view.takes_batches || view.batches == 0);
    view.kept = view.kept && !view.takes_batches;
  }
  MPSD_CHECK(views_[worker].takes_batches);
  views_[worker].kept = true;
}

uint32_t InflightTable::FreeSlot(uint32_t lane) const {
  const auto& slots = lanes_[lane].slots;
  const auto free = std::find(slots.begin(), slots.end(), nullptr);
  MPSD_CHECK(free != slots.end() && lane_views_[lane].batches < kMaxLaneDepth);
  return static_cast<uint32_t>(free - slots.begin());
}

void InflightTable::Start(Position position, std::unique_ptr<InflightBatch> batch,
                          int64_t expected_ns) {
  std::unique_ptr<InflightBatch>& slot = lanes_[position.lane].slots[position.slot];
  MPSD_CHECK(slot == nullptr && batch->life.state() == SlotState::kRunning);
  LaneView& lane = lane_views_[position.lane];
  WorkerView& worker = views_[lane.worker];
  MPSD_CHECK(lane.batches < kMaxLaneDepth && worker.takes_batches);
  if (!batch->formed.entries.front().request->suspect) worker.kept = false;
  const auto lane_ns = static_cast<int64_t>(static_cast<double>(expected_ns) * worker.slowness);
  lane.free_at_ns = std::max(lane.free_at_ns, batch->batched_ns) + lane_ns;
  lane.expected_ns = lane_ns;
  for (WorkerView& view : views_) ++view.passed_over;
  worker.passed_over = 0;
  slot = std::move(batch);
  ++lane.batches;
  ++worker.batches;
  model_->metrics.running_batches.fetch_add(1, std::memory_order_relaxed);
}

int64_t InflightTable::NoteRun(Position position, int64_t now_ns) {
  Lane& lane = lanes_[position.lane];
  const int64_t begin_ns = std::max(At(position)->batched_ns, lane.last_back_ns);
  lane.last_back_ns = now_ns;
  has_run_ = true;
  return now_ns - begin_ns;
}

std::unique_ptr<InflightBatch> InflightTable::TakeOut(Position position) {
  std::unique_ptr<InflightBatch>& slot = lanes_[position.lane].slots[position.slot];
  MPSD_CHECK(slot != nullptr && !slot->life.with_lane());
  LaneView& lane = lane_views_[position.lane];
  if (--lane.batches == 0) lane.free_at_ns = 0;
  --views_[lane.worker].batches;
  model_->metrics.running_batches.fetch_sub(1, std::memory_order_relaxed);
  return std::move(slot);
}

void InflightTable::Abandon(Request* request) {
  MPSD_CHECK(request->state == RequestState::kRunning);
  uint32_t found = 0;
  ForEach([&](Position position, InflightBatch* batch) {
    for (BatchEntry& entry : batch->formed.entries) {
      if (entry.request != request) continue;
      entry.request = nullptr;
      ++found;
      CancelIfDead(batch, &lanes_[position.lane].port->mailbox->records[position.slot]);
    }
  });
  MPSD_CHECK(found == 1);
}

void InflightTable::TakeExpired(int64_t until_ns, std::vector<Request*>* expired) {
  ForEach([&](Position position, InflightBatch* batch) {
    for (BatchEntry& entry : batch->formed.entries) {
      if (entry.request == nullptr || entry.request->deadline_ns > until_ns) continue;
      expired->push_back(std::exchange(entry.request, nullptr));
    }
    CancelIfDead(batch, &lanes_[position.lane].port->mailbox->records[position.slot]);
  });
}

void InflightTable::CheckInvariants() const {
  std::vector<uint32_t> lane_batches(lanes_.size());
  ForEach([&](Position position, InflightBatch* batch) {
    ++lane_batches[position.lane];
    MPSD_CHECK(batch->life.with_lane() && batch->lease != nullptr);
    const WorkerLink& link = *workers_[lane_views_[position.lane].worker].link;
    MPSD_CHECK(IsOfEpoch(batch->id, link.epoch()));
    bool alive = false;
    for (const BatchEntry& entry : batch->formed.entries) {
      if (entry.request == nullptr) continue;
      MPSD_CHECK(entry.request->state == RequestState::kRunning);
      MPSD_CHECK(entry.request->rows == entry.row_count);
      alive = true;
    }
    MPSD_CHECK(alive == (batch->life.state() == SlotState::kRunning));
  });
  uint32_t kept = 0;
  uint32_t next_lane = 0;
  for (uint32_t worker = 0; worker < workers_.size(); ++worker) {
    MPSD_CHECK(views_[worker].first_lane == next_lane);
    uint32_t batches = 0;
    for (uint32_t i = 0; i < workers_[worker].link->lanes(); ++i, ++next_lane) {
      MPSD_CHECK(lane_views_[next_lane].worker == worker);
      MPSD_CHECK(lane_views_[next_lane].batches == lane_batches[next_lane]);
      MPSD_CHECK(lane_batches[next_lane] <= kMaxLaneDepth);
      batches += lane_batches[next_lane];
    }
    MPSD_CHECK(views_[worker].batches == batches);
    MPSD_CHECK(workers_[worker].link->leases_out() >= batches);
    MPSD_CHECK(!workers_[worker].condemned || !views_[worker].takes_batches);
    kept += views_[worker].kept && views_[worker].takes_batches ? 1 : 0;
  }
  MPSD_CHECK(next_lane == lanes_.size() && kept <= 1);
}

}  // namespace mpsd
