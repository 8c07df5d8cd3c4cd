// SuperviseServices: what all workers of a supervisor share.
//
// A group and its workers get one pointer instead of a dozen. The first half is the way out to
// other parts; the second half is what is known about the host as a whole, and so belongs to no
// group.
//
// Everything that changes here changes on one thread, which `thread` holds the code to: the members
// are guarded by that role, functions that use them require it, and each entry point begins with
// Check().
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "proto/base/clock.h"
#include "proto/base/thread_role.h"
#include "server/dispatch/pool.h"
#include "server/plane/plane.h"
#include "server/supervise/memory_budget.h"
#include "server/supervise/policy/device_health_policy.h"
#include "server/supervise/policy/memory_kills_policy.h"
#include "server/supervise/policy/pressure_policy.h"
#include "server/supervise/policy/watchdog_policy.h"
#include "server/supervise/process/worker_host.h"
#include "server/supervise/status_board.h"
#include "server/supervise/worker_bells.h"
#include "server/telemetry/log/log.h"

namespace mpsd {

// Owned by the supervisor, which fills in the first group before its thread runs, and outlives all
// groups. Groups and workers use it on that thread only. Has no behaviour beyond numbering.
struct SuperviseServices {
  // Constant while the supervisor's thread runs. The referents outlive every group.
  Plane* plane = nullptr;        // all pools, and the count of awake threads
  PoolKeeper* keeper = nullptr;  // the supervisor, as pools see it
  const Clock* clock = nullptr;
  Logger* logger = nullptr;
  WorkerHost* host = nullptr;      // spawns processes and waits for their events
  WorkerBells* bells = nullptr;    // heard while all queue threads sleep
  StatusBoard* board = nullptr;    // what other threads are told
  MemoryBudget* budget = nullptr;  // of all segments
  std::function<double()> jitter;  // a fresh random number in [0, 1)

  // The supervisor's thread: everything in groups and workers lives on it.
  ThreadRole thread;

  OwnTime own_time ABSL_GUARDED_BY(thread);
  MemoryKills memory_kills ABSL_GUARDED_BY(thread);
  PressureRelief relief ABSL_GUARDED_BY(thread);
  std::map<std::string, DeviceHealth> devices ABSL_GUARDED_BY(thread);  // by name; no cpu
  uint64_t next_token ABSL_GUARDED_BY(thread) = 1;

  // The first of kTokensPerWorker tokens that no other worker has or had. A token tells which event
  // of which worker the host reports; a token of a worker that has left since means nothing.
  uint64_t TakeTokens() ABSL_EXCLUSIVE_LOCKS_REQUIRED(thread) {
    const uint64_t first = next_token;
    next_token += kTokensPerWorker;
    return first;
  }
};

}  // namespace mpsd
