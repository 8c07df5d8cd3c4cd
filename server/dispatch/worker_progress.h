// WorkerProgress: what a worker does, as its pool knows it.
#pragma once

#include <cstdint>
#include <vector>

namespace mpsd {

struct LaneProgress {
  uint32_t inflight = 0;   // batches that it has
  uint64_t completed = 0;  // batches that it has given back
  uint32_t heartbeat = 0;  // as the worker wrote it: the one thing here that it can lie about
};

struct WorkerProgress {
  std::vector<LaneProgress> lanes;  // none: the worker is not attached
  uint64_t requests = 0;            // answered
  uint32_t inflight = 0;            // batches of all lanes
};

}  // namespace mpsd
