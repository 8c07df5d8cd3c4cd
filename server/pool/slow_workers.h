// SlowWorkers: finds a pool's slow workers, and shows them to the scheduler.
#pragma once

#include <cstdint>
#include <vector>

#include "server/pool/inflight_table.h"
#include "server/pool/schedule/latency_curve.h"

namespace mpsd {

// Thread-compatible: its pool's mutex guards it.
//
//   batch ─▶ Note() ─┬─▶ LatencyCurve                      unless slow, or warming up
//                    └─▶ Slowness of its worker ─▶ Judge() ─▶ WorkerView of every worker
//
// A worker that joins a pool which has run batches warms up during the first kWarmUpRuns of each
// lane. In a new pool all workers are fresh, and their times are all that is known.
class SlowWorkers {
 public:
  static constexpr uint32_t kWarmUpRuns = 4;

  explicit SlowWorkers(InflightTable* inflight) : inflight_(inflight) {}

  // REQUIRES: the lane's port has counted the batch.
  void Note(uint32_t lane, uint32_t rows, int64_t took_ns, LatencyCurve* curve);

  // Compares the workers anew. Returns their usual time, as a multiple of the curve; 1 while
  // unknown.
  double Judge();

 private:
  void TryNext(uint32_t worker);

  bool WarmsUp(uint32_t lane) const;

  InflightTable* const inflight_;
  std::vector<double> ratios_;  // scratch
};

}  // namespace mpsd
