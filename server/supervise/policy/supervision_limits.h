// SupervisionLimits: when a model's workers are killed, rest or are replaced.
#pragma once

#include <cstdint>

#include "proto/base/clock.h"

namespace mpsd {

// This many deaths within this time make a model rest.
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

struct SupervisionLimits {
  int64_t load_timeout_ns = 300 * kNsPerSecond;
  int64_t warmup_timeout_ns = 600 * kNsPerSecond;
  int64_t run_timeout_ns = 0;  // 0: derived from how long batches have taken
  CircuitLimits circuit;
  RecycleLimits recycle;
};

}  // namespace mpsd
