// SupervisionLimits: when a model's workers are killed, rest or are replaced.
//
// The supervisor knows no config: ModelFactory (server/place) turns a model's SupervisionConfig
// into these limits and hands them over with the model. They are constant for a generation; a
// reload that changes one makes a new generation. Each limit belongs to one decision:
//
//   load_timeout, warmup_timeout   SupervisedWorker, in OwnTime      kills the worker
//   run_timeout                    RunBudgetNs() (watchdog_policy)   kills the worker
//   circuit                        Circuit (circuit_policy)          lets the model rest
//   recycle                        RecycleReason() (recycle_policy)  replaces the worker
//
// The bounds of what a config may set stand in server/config/model_config_reader.cc; the defaults
// here are those of SupervisionConfig, for tests that set no limit.
#pragma once

#include <cstdint>

#include "proto/base/clock.h"

namespace mpsd {

// This many deaths within this time make a model rest. Deaths that say nothing about the model do
// not count.
struct CircuitLimits {
  uint32_t deaths = 5;  // 0: never
  int64_t period_ns = 60 * kNsPerSecond;
};

// When a worker that serves is replaced by a fresh one; 0: never for that reason.
struct RecycleLimits {
  uint64_t resident_bytes = 0;
  uint64_t requests = 0;
  int64_t age_ns = 0;
};

// A value, part of SupervisedModel.
struct SupervisionLimits {
  int64_t load_timeout_ns = 300 * kNsPerSecond;    // from the spawn to the LoadReport
  int64_t warmup_timeout_ns = 600 * kNsPerSecond;  // from the AttachOrder to its service
  int64_t run_timeout_ns = 0;                      // 0: derived from how long batches have taken
  CircuitLimits circuit;
  RecycleLimits recycle;
};

}  // namespace mpsd
