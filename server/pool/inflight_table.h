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

// Thread-compatible: its pool's mutex guards it. Indices of workers and lanes are valid until the
// next Attach() or Remove().
//
// Invariants:
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
    bool joined_late = false;  // the pool had run batches before
  };

  InflightTable(ServedModel* model, PoolKeeper* keeper) : model_(model), keeper_(keeper) {}

  // REQUIRES: no batch is in it.
  ~InflightTable();

  void Attach(std::shared_ptr<WorkerLink> link);

  // REQUIRES: the worker has no batch.
  std::shared_ptr<WorkerLink> Remove(uint32_t worker);

  // `number` is WorkerLink::worker().
  std::optional<uint32_t> Find(uint32_t number) const;

  // The worker was caught lying: it gets no batch, and is not believed. Tells the keeper.
  void Condemn(uint32_t worker, const std::string& reason);

  void Quiesce(uint32_t worker) { views_[worker].takes_batches = false; }

  void SetPaused(uint32_t worker, bool is_paused) {
    views_[worker].takes_batches = !is_paused && !workers_[worker].condemned;
  }

  // The worker gets only suspects. REQUIRES: what Scheduler says of kKeepWorker.
  void Keep(uint32_t worker);

  // Dispatcher writes the room for outputs, PoolClaims the resources, SlowWorkers the slowness and
  // the next trial.
  WorkerView* view(uint32_t worker) { return &views_[worker]; }

  // REQUIRES: the lane has fewer than kMaxLaneDepth batches.
  uint32_t FreeSlot(uint32_t lane) const;

  // `expected_ns` is for a worker that is not slow. Other workers are passed over. A batch without
  // a suspect ends its worker's keeping. REQUIRES: the slot is free, the batch is running.
  void Start(Position position, std::unique_ptr<InflightBatch> batch, int64_t expected_ns);

  // Returns how long the lane ran the batch, without earlier batches.
  int64_t NoteRun(Position position, int64_t now_ns);

  // REQUIRES: the slot has a batch, and no lane may touch it any more.
  std::unique_ptr<InflightBatch> TakeOut(Position position);

  // Null if the slot is free.
  InflightBatch* At(Position position) const {
    return lanes_[position.lane].slots[position.slot].get();
  }

  // Takes a running request out of its batch, for the caller to end. Its rows stay until the batch
  // ends.
  void Abandon(Request* request);

  void TakeExpired(int64_t until_ns, std::vector<Request*>* expired);

  // Calls visit(Position, InflightBatch*), which may take out its batch.
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

  // Slow: for tests.
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
