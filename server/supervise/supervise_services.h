// SuperviseServices: what all workers of a supervisor share.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/random/random.h"
#include "proto/base/clock.h"
#include "proto/base/platform.h"
#include "server/dispatch/completion_thread.h"
#include "server/dispatch/plane.h"
#include "server/dispatch/pool.h"
#include "server/supervise/memory_budget.h"
#include "server/supervise/policy/device_health_policy.h"
#include "server/supervise/policy/memory_kills_policy.h"
#include "server/supervise/policy/watchdog_policy.h"
#include "server/supervise/process/folder_remover.h"
#include "server/supervise/status_board.h"
#include "server/telemetry/log/log.h"

namespace mpsd {

inline constexpr uint64_t kTokensPerWorker = 3;  // control, output, exit

// Owned by the supervisor and used on its thread.
struct SuperviseServices {
  std::string worker_binary;
  std::string temporary_folder;
  Plane* plane = nullptr;
  PoolKeeper* keeper = nullptr;
  const Clock* clock = nullptr;
  Logger* logger = nullptr;
  CompletionThread* completions = nullptr;
  StatusBoard* board = nullptr;
  FolderRemover* remover = nullptr;
  MemoryBudget* budget = nullptr;
  platform::Poller poller;
  OwnTime own_time;
  MemoryKills memory_kills;
  std::map<std::string, DeviceHealth> devices;  // by name; no cpu
  absl::BitGen random;
  uint64_t next_token = 1;
  uint64_t next_incarnation = 1;

  double Jitter() { return absl::Uniform<double>(random, 0, 1); }
  uint64_t TakeTokens() {
    const uint64_t first = next_token;
    next_token += kTokensPerWorker;
    return first;
  }
};

}  // namespace mpsd
