// SupervisionLimits: when a model's workers are killed, rest or are replaced.
#pragma once

#include <cstdint>

#include "proto/base/clock.h"

namespace mpsd {

// So many deaths within this time make a model rest (Circuit).
struct CircuitLimits {
  uint32_t deaths = 5;  // 0: never
  int64_t period_ns = 60 * kNsPerSecond;

  bool operator==(const CircuitLimits&) const = default;
};

// When a fresh worker replaces one that serves; 0: never. One worker of a model at a time, while
// the host has memory for one more.
struct RecycleLimits {
  uint64_t resident_bytes = 0;
  uint64_t requests = 0;  // by this incarnation
  int64_t age_ns = 0;     // since it began to serve

  bool operator==(const RecycleLimits&) const = default;
};

// A generation's limits; model_config_reader.cc bounds them. Part of ModelConfig and of
// SupervisedModel. A value.
//
//   spawn ─▶ LoadReport ─▶ AttachOrder ─▶ lanes are warm ─▶ a batch ─▶ a batch ─▶ … ─▶ replaced
//   │ load_timeout │       │   warmup_timeout   │           │ run_timeout │           recycle
//
// A timeout kills the worker. Timeouts count OwnTime: a front end that was stopped kills no worker
// for that. A batch is timed from its lane's last progress, also while the worker drains
// (RunBudgetNs). An idle lane has kIdleBudgetNs.
struct SupervisionLimits {
  int64_t load_timeout_ns = 300 * kNsPerSecond;    // from the spawn to the LoadReport
  int64_t warmup_timeout_ns = 600 * kNsPerSecond;  // from the AttachOrder to its service
  int64_t run_timeout_ns = 0;                      // 0: derived from earlier batches
  CircuitLimits circuit;
  RecycleLimits recycle;

  bool operator==(const SupervisionLimits&) const = default;
};

}  // namespace mpsd
