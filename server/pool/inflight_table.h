// InflightTable: a pool's workers, their lanes, and the batch in each of their slots.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "proto/base/limits.h"
#include "server/pool/lanes/inflight_batch.h"
#include "server/pool/lanes/worker_link.h"
#include "server/pool/pool_keeper.h"
#include "server/pool/schedule/scheduler.h"
#include "server/pool/schedule/slowness.h"
#include "server/request/served_model.h"

namespace mpsd {

// Steps 7 to 11 of a request's life. Owned by a pool. Thread-compatible: guarded by the pool's
// mutex. It ends no request and decides nothing. Workers and lanes are named by their index, valid
// until the next Attach() or Remove(). A scheduler sees workers() and lanes().
//
// Invariants, which CheckInvariants() checks:
//  1. A running request is in exactly one entry of one batch here.
//  2. A slot holds a batch exactly while a lane may still read its rows or write its lease: the
//     batch is running, or abandoned. An abandoned batch has no request.
//  3. The views count what the slots hold. A lane has at most kMaxLaneDepth batches, so its rings
//     are never full.
//  4. A worker's lanes are neighbours, in the order of the workers.
//  5. At most one worker that takes batches is kept for suspects.
class InflightTable {
 public:
  struct Position {
    uint32_t lane = 0;
    uint32_t slot = 0;
  };

  struct Worker {
    std::shared_ptr<WorkerLink> link;
    bool condemned = false;  // caught lying: nothing that it says is believed
    uint64_t answered_requests = 0;
    Slowness slowness;
    bool joined_late = false;  // the pool had run batches before it came
  };

  // Both outlive the table.
  InflightTable(ServedModel* model, PoolKeeper* keeper) : model_(model), keeper_(keeper) {}

  // REQUIRES: no batch is in it.
  ~InflightTable();

  void Attach(std::shared_ptr<WorkerLink> link);

  // REQUIRES: the worker has no batch.
  std::shared_ptr<WorkerLink> Remove(uint32_t worker);

  // The index of the worker with that number (WorkerLink::worker()).
  std::optional<uint32_t> Find(uint32_t number) const;

  // The worker was caught lying: it gets no batch, and none of its completions is believed. Tells
  // the keeper.
  void Condemn(uint32_t worker, const std::string& reason);

  void Quiesce(uint32_t worker) { views_[worker].takes_batches = false; }

  // The same until it is unpaused.
  void SetPaused(uint32_t worker, bool is_paused) {
    views_[worker].takes_batches = !is_paused && !workers_[worker].condemned;
  }

  // The worker gets only suspects. REQUIRES: what Scheduler says of kKeepWorker.
  void Keep(uint32_t worker);

  // The scheduler's view of the worker. Each part of the pool writes what it alone knows:
  // Dispatcher the room for outputs, PoolClaims the resources, SlowWorkers the slowness and the
  // next trial. The rest is the table's.
  WorkerView* view(uint32_t worker) { return &views_[worker]; }

  // REQUIRES: the lane has fewer than kMaxLaneDepth batches.
  uint32_t FreeSlot(uint32_t lane) const;

  // The lane has the batch from now on, expected to run that long on a worker that is not slow. A
  // batch without a suspect ends its worker's keeping. Other workers are passed over. REQUIRES: the
  // slot is free, the batch is running.
  void Start(Position position, std::unique_ptr<InflightBatch> batch, int64_t expected_ns);

  // The batch came back at that time. Returns how long the lane ran it, without earlier batches.
  int64_t NoteRun(Position position, int64_t now_ns);

  // The batch has left its slot. REQUIRES: there is one, and no lane may touch it any more.
  std::unique_ptr<InflightBatch> TakeOut(Position position);

  // The batch in a slot; null if there is none.
  InflightBatch* At(Position position) const {
    return lanes_[position.lane].slots[position.slot].get();
  }

  // Takes a running request out of its batch; its rows stay until the batch ends. The caller ends
  // the request. REQUIRES: it is running.
  void Abandon(Request* request);

  // The same for all with a deadline up to `until_ns`.
  void TakeExpired(int64_t until_ns, std::vector<Request*>* expired);

  // Calls visit(Position, InflightBatch*) for each batch, lane by lane. `visit` may take out its
  // batch.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (uint32_t lane = 0; lane < lanes_.size(); ++lane) ForEachOf(lane, visit);
  }

  template <typename Visit>
  void ForEachOf(uint32_t lane, Visit visit) const {
    for (uint32_t slot = 0; slot < kRingEntries; ++slot) {
      if (InflightBatch* batch = lanes_[lane].slots[slot].get()) visit(Position{lane, slot}, batch);
    }
  }

  void CountAnswered(uint32_t worker, uint64_t requests) {
    workers_[worker].answered_requests += requests;
  }

  absl::Span<const WorkerView> workers() const { return views_; }
  absl::Span<const LaneView> lanes() const { return lane_views_; }
  const Worker& worker(uint32_t worker) const { return workers_[worker]; }
  Slowness* slowness(uint32_t worker) { return &workers_[worker].slowness; }
  LanePort* port(uint32_t lane) const { return lanes_[lane].port; }

  // CHECKs the class's invariants. Slow: for tests.
  void CheckInvariants() const;

 private:
  struct Lane {
    LanePort* port = nullptr;
    int64_t last_back_ns = 0;  // when the last batch came back
    std::array<std::unique_ptr<InflightBatch>, kRingEntries> slots;
  };

  ServedModel* const model_;
  PoolKeeper* const keeper_;
  std::vector<Worker> workers_;
  std::vector<WorkerView> views_;  // one for each of workers_
  std::vector<Lane> lanes_;
  std::vector<LaneView> lane_views_;  // one for each of lanes_
  bool has_run_ = false;              // a batch came back
};

}  // namespace mpsd
