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
// They follow one another in a worker's life:
//
//   spawn ─▶ LoadReport ─▶ AttachOrder ─▶ lanes are warm ─▶ a batch ─▶ a batch ─▶ … ─▶ replaced
//   │ load_timeout │       │   warmup_timeout   │           │ run_timeout │           recycle
//
// All times but `circuit.period` and `recycle.age` are OwnTime, which stands still while the front
// end does: a front end that was stopped for a minute kills nobody for it.
//
// The bounds of what a config may set stand in server/config/model_config_reader.cc; the defaults
// here are those of SupervisionConfig, for tests that set no limit.
#pragma once

#include <cstdint>

#include "proto/base/clock.h"

namespace mpsd {

// This many deaths within this time make a model rest. Deaths that say nothing about the model do
// not count: those by a signal from outside, those that the front end asked for, and those put down
// to one request. While the model rests no worker of it starts; see Circuit.
struct CircuitLimits {
  uint32_t deaths = 5;  // 0: never
  int64_t period_ns = 60 * kNsPerSecond;
};

// When a worker that serves is replaced by a fresh one; 0: never for that reason. One worker of a
// model is replaced at a time, and only while the host has memory for one more.
struct RecycleLimits {
  uint64_t resident_bytes = 0;  // of the process, as the operating system counts them
  uint64_t requests = 0;        // answered by this incarnation
  int64_t age_ns = 0;           // since it began to serve
};

// A value, part of SupervisedModel. A worker that is killed for a timeout is one that has hung:
// each request in it is judged by server/dispatch/loss_policy.h, and the next incarnation starts
// after its backoff.
//
// A batch is timed from its lane's last sign of progress on, also while the worker drains. A lane
// without a batch has kIdleBudgetNs instead, which no config sets.
struct SupervisionLimits {
  int64_t load_timeout_ns = 300 * kNsPerSecond;    // from the spawn to the LoadReport
  int64_t warmup_timeout_ns = 600 * kNsPerSecond;  // from the AttachOrder to its service
  int64_t run_timeout_ns = 0;                      // 0: derived from how long batches have taken
  CircuitLimits circuit;
  RecycleLimits recycle;
};

}  // namespace mpsd
