// WorkerProgress: a worker's progress as its pool knows it, and how the worker ended.
#pragma once

#include <cstdint>
#include <vector>

namespace mpsd {

// The front end's own counts, so that a worker cannot lie about them.
struct LaneProgress {
  uint32_t inflight = 0;
  uint64_t completed = 0;
  uint32_t heartbeat = 0;  // written by the worker; moves whenever the lane is about to sleep
};

// The supervisor compares two of them. A lane that has a batch and returns none for run_timeout
// hangs, and the worker is killed. A value.
struct WorkerProgress {
  std::vector<LaneProgress> lanes;  // empty: the worker is not attached
  uint64_t requests = 0;
  uint32_t inflight = 0;  // batches on all lanes
  bool can_move = false;  // it has requests, and all would run again if it were killed
  double slowness = 1;    // multiple of the usual time
};

// Decides what happens to the worker's requests. ExitReason (supervise/process) has the full cause.
enum class WorkerEnd {
  kKilled,   // from outside or by the front end: its requests are not to blame
  kCrashed,  // by itself: its requests are suspects
};

// The cause of a worker's death.
enum class Conviction : uint8_t {
  kNone,       // nothing in particular
  kSuspicion,  // the one request inside, which is tried again, or something from outside
  kRequest,    // one request, which has ended; its content had been answered before
  kContent,    // the same, and its content is refused from now on
};

}  // namespace mpsd
