// SupervisionLimits: when a model's workers are killed, rest or are replaced.
//
// The supervisor knows no config: ModelFactory (server/models) turns a model's SupervisionConfig
// into these limits. They are constant for a generation; a reload that changes one makes a new
// generation. Each limit belongs to one decision:
//
//   load_timeout, warmup_timeout   SupervisedWorker, in OwnTime      kills the worker
//   run_timeout                    RunBudgetNs() (watchdog_policy)   kills the worker
//   circuit                        Circuit (circuit_policy)          lets the model rest
//   recycle                        RecycleReason() (recycle_policy)  replaces the worker
//
// Their order in a worker's life:
//
//   spawn ─▶ LoadReport ─▶ AttachOrder ─▶ lanes are warm ─▶ a batch ─▶ a batch ─▶ … ─▶ replaced
//   │ load_timeout │       │   warmup_timeout   │           │ run_timeout │           recycle
//
// All times except `circuit.period` and `recycle.age` are OwnTime, which stops while the front end
// does: a front end that was stopped for a minute kills no worker for that.
//
// server/config/model_config_reader.cc bounds what a config may set. The defaults here are those of
// SupervisionConfig, for tests that set no limit.
#pragma once

#include <cstdint>

#include "proto/base/clock.h"

namespace mpsd {

// So many deaths within this time make a model rest (see Circuit). Deaths that say nothing about
// the model do not count: by a signal from outside, at the front end's wish, or put down to one
// request.
struct CircuitLimits {
  uint32_t deaths = 5;  // 0: never
  int64_t period_ns = 60 * kNsPerSecond;
};

// When a fresh worker replaces one that serves; 0: never for that reason. One worker of a model at
// a time, and only while the host has memory for one more.
struct RecycleLimits {
  uint64_t resident_bytes = 0;  // resident bytes as the operating system counts them
  uint64_t requests = 0;        // answered by this incarnation
  int64_t age_ns = 0;           // since it began to serve
};

// A value, part of SupervisedModel. A worker killed for a timeout has hung: loss_policy.h
// (server/pool) judges each request in it, and the next incarnation starts after its backoff.
//
// A batch is timed from its lane's last sign of progress, also while the worker drains. A lane
// without a batch has kIdleBudgetNs instead, which no config sets.
struct SupervisionLimits {
  int64_t load_timeout_ns = 300 * kNsPerSecond;    // from the spawn to the LoadReport
  int64_t warmup_timeout_ns = 600 * kNsPerSecond;  // from the AttachOrder to its service
  int64_t run_timeout_ns = 0;                      // 0: derived from the times of earlier batches
  CircuitLimits circuit;
  RecycleLimits recycle;
};

}  // namespace mpsd
