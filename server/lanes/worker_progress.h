// WorkerProgress: how far a worker has come, as its pool knows, and how it ended.
#pragma once

#include <cstdint>
#include <vector>

namespace mpsd {

// The front end's own counts, so that a worker cannot lie about them; but for the heartbeat.
struct LaneProgress {
  uint32_t inflight = 0;   // batches that it has
  uint64_t completed = 0;  // batches that it has given back
  uint32_t heartbeat = 0;  // the worker's own word, which moves whenever the lane is about to sleep
};

// PoolWorkers::Progress() gives it to the supervisor, which asks twice and compares: a lane that
// has a batch and gives none back for run_timeout hangs, and the worker is killed. A value.
struct WorkerProgress {
  std::vector<LaneProgress> lanes;  // empty: the worker is not attached
  uint64_t requests = 0;            // answered
  uint32_t inflight = 0;            // batches of all lanes
  double slowness = 1;              // how many times as long as usual its batches take
};

// What the supervisor tells the pool of a worker that is confirmed dead (PoolWorkers::Detach). It
// decides what becomes of the requests that the worker had: see loss_policy.h. ExitReason
// (supervise/process) has the whole story, for operators.
enum class WorkerEnd {
  kKilled,   // from outside, or by the front end: its requests are not to blame
  kCrashed,  // by itself: its requests are suspects
};

// The cause that a pool finds for a worker's death.
enum class Conviction : uint8_t {
  kNone,       // nothing in particular
  kSuspicion,  // to the one request inside, which is tried again, or something from outside
  kRequest,    // to one request, which has ended; its content had been answered before
  kContent,    // likewise, and its content is refused from now on
};

}  // namespace mpsd
