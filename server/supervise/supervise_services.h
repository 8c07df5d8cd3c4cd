// SuperviseServices: what all workers of a supervisor share.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "proto/base/clock.h"
#include "proto/base/thread_role.h"
#include "server/pool/plane/plane.h"
#include "server/pool/plane/worker_bells.h"
#include "server/pool/pool.h"
#include "server/pool/pool_keeper.h"
#include "server/supervise/memory_budget.h"
#include "server/supervise/policy/device_health_policy.h"
#include "server/supervise/policy/memory_kills_policy.h"
#include "server/supervise/policy/pressure_policy.h"
#include "server/supervise/policy/watchdog_policy.h"
#include "server/supervise/process/worker_host.h"
#include "server/supervise/status_board.h"
#include "server/telemetry/log/log.h"

namespace mpsd {

// Owned by the supervisor, which fills in the first half before its thread runs. The second half
// concerns the host as a whole and changes on one thread: the role `thread` enforces that, and each
// entry point begins with Check(). Outlives all groups. Groups and workers use it only on that
// thread.
struct SuperviseServices {
  // Constant while the thread runs. The referents outlive every group.
  Plane* plane = nullptr;        // all pools
  PoolKeeper* keeper = nullptr;  // the supervisor, as pools see it
  const Clock* clock = nullptr;
  Logger* logger = nullptr;
  WorkerHost* host = nullptr;      // spawns processes and waits for their events
  WorkerBells* bells = nullptr;    // heard while all of the door's threads sleep
  StatusBoard* board = nullptr;    // for other threads
  MemoryBudget* budget = nullptr;  // for all segments
  std::function<double()> jitter;  // in [0, 1)

  // The supervisor's.
  ThreadRole thread;

  OwnTime own_time ABSL_GUARDED_BY(thread);
  MemoryKills memory_kills ABSL_GUARDED_BY(thread);
  PressureRelief relief ABSL_GUARDED_BY(thread);
  std::map<std::string, DeviceHealth> devices ABSL_GUARDED_BY(thread);  // without the cpu
  uint64_t next_token ABSL_GUARDED_BY(thread) = 1;

  // The first of kTokensPerWorker fresh ones. A token says which event of which worker the host
  // reports; once the worker has left, it means nothing.
  uint64_t TakeTokens() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread) {
    const uint64_t first = next_token;
    next_token += kTokensPerWorker;
    return first;
  }
};

}  // namespace mpsd
