// SlowWorkers: finds out which workers of a pool are slow, and shows it to the scheduler.
#pragma once

#include <cstdint>
#include <vector>

#include "server/dispatch/inflight_table.h"
#include "server/schedule/latency_curve.h"

namespace mpsd {

// Owned by a pool. Thread-compatible: guarded by the pool's mutex. The times of batches go through
// it to the curve of their line, from which a worker is kept that is slow, or that is still warming
// up. It decides nothing of what runs where: the scheduler does, by WorkerView::slowness.
//
//   batch ─▶ Note() ─┬─▶ LatencyCurve                      unless slow, or warming up
//                    └─▶ Slowness of its worker ─▶ Judge() ─▶ WorkerView of every worker
//
// A worker that joined a pool which had run batches before warms up on its first kWarmUpRuns of
// each lane: those of a fresh process fill caches. Of a pool that begins all are fresh, and what
// they take is all that is known.
class SlowWorkers {
 public:
  static constexpr uint32_t kWarmUpRuns = 4;

  // The table outlives this.
  explicit SlowWorkers(InflightTable* inflight) : inflight_(inflight) {}

  // A batch of so many rows came back from the lane, which took that long for it. REQUIRES: the
  // lane's port has counted it.
  void Note(uint32_t lane, uint32_t rows, int64_t took_ns, LatencyCurve* curve);

  // Compares the workers anew: one has come, or gone. Returns what they usually take, as a multiple
  // of the curve; 1 while nobody knows.
  double Judge();

 private:
  // The worker gets the next batch, unless it has one.
  void TryNext(uint32_t worker);

  bool WarmsUp(uint32_t lane) const;

  InflightTable* const inflight_;
  std::vector<double> ratios_;  // scratch
};

}  // namespace mpsd
