// WorkerProgress: what a worker has done so far, as its pool knows.
#pragma once

#include <cstdint>
#include <vector>

namespace mpsd {

struct LaneProgress {
  uint32_t inflight = 0;   // batches that it has
  uint64_t completed = 0;  // batches that it has given back
  uint32_t heartbeat = 0;  // the worker's own word: the only field that it can lie about
};

struct WorkerProgress {
  std::vector<LaneProgress> lanes;  // empty: the worker is not attached
  uint64_t requests = 0;            // answered
  uint32_t inflight = 0;            // batches of all lanes
};

}  // namespace mpsd
