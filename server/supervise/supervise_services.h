// SuperviseServices: what all workers of a supervisor share.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "proto/base/clock.h"
#include "proto/base/thread_role.h"
#include "server/dispatch/plane.h"
#include "server/dispatch/pool.h"
#include "server/supervise/memory_budget.h"
#include "server/supervise/policy/device_health_policy.h"
#include "server/supervise/policy/memory_kills_policy.h"
#include "server/supervise/policy/watchdog_policy.h"
#include "server/supervise/process/worker_host.h"
#include "server/supervise/status_board.h"
#include "server/supervise/worker_bells.h"
#include "server/telemetry/log/log.h"

namespace mpsd {

// Owned by the supervisor, which fills in the first group before its thread runs. Groups and
// workers use it on that thread only.
struct SuperviseServices {
  // Constant while the supervisor's thread runs. The referents outlive every group.
  Plane* plane = nullptr;
  PoolKeeper* keeper = nullptr;
  const Clock* clock = nullptr;
  Logger* logger = nullptr;
  WorkerHost* host = nullptr;
  WorkerBells* bells = nullptr;
  StatusBoard* board = nullptr;
  MemoryBudget* budget = nullptr;
  std::function<double()> jitter;  // a fresh random number in [0, 1)

  // The supervisor's thread: everything in groups and workers lives on it.
  ThreadRole thread;

  OwnTime own_time ABSL_GUARDED_BY(thread);
  MemoryKills memory_kills ABSL_GUARDED_BY(thread);
  std::map<std::string, DeviceHealth> devices ABSL_GUARDED_BY(thread);  // by name; no cpu
  uint64_t next_token ABSL_GUARDED_BY(thread) = 1;

  // The first of kTokensPerWorker tokens that no other worker has.
  uint64_t TakeTokens() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread) {
    const uint64_t first = next_token;
    next_token += kTokensPerWorker;
    return first;
  }
};

}  // namespace mpsd
