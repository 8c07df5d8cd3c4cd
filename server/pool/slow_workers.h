// SlowWorkers: finds a pool's slow workers, and shows them to the scheduler.
#pragma once

#include <cstdint>
#include <vector>

#include "server/pool/inflight_table.h"
#include "server/pool/schedule/latency_curve.h"

namespace mpsd {

// Owned by a pool. Thread-compatible: guarded by the pool's mutex. Times of batches pass it on the
// way to their line's curve; it keeps those of slow and warming workers from the curve. The
// scheduler decides what runs where, by WorkerView::slowness.
//
//   batch ─▶ Note() ─┬─▶ LatencyCurve                      unless slow, or warming up
//                    └─▶ Slowness of its worker ─▶ Judge() ─▶ WorkerView of every worker
//
// A worker that joins a pool which has run batches warms up during the first kWarmUpRuns of each
// lane, since a fresh process fills caches. In a new pool all workers are fresh, and their times
// are all that is known.
class SlowWorkers {
 public:
  static constexpr uint32_t kWarmUpRuns = 4;

  // The table outlives this.
  explicit SlowWorkers(InflightTable* inflight) : inflight_(inflight) {}

  // A batch of so many rows came back from the lane, which took that long. REQUIRES: the lane's
  // port has counted it.
  void Note(uint32_t lane, uint32_t rows, int64_t took_ns, LatencyCurve* curve);

  // Compares the workers anew after one has come or gone. Returns their usual time, as a multiple
  // of the curve; 1 while unknown.
  double Judge();

 private:
  // The worker gets the next batch, unless it has one.
  void TryNext(uint32_t worker);

  bool WarmsUp(uint32_t lane) const;

  InflightTable* const inflight_;
  std::vector<double> ratios_;  // scratch
};

}  // namespace mpsd
