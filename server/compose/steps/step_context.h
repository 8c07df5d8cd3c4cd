// StepContext: what the queues of all models of steps share.
#pragma once

#include <atomic>
#include <cstdint>

#include "proto/base/clock.h"
#include "server/exchange/request_ending.h"
#include "server/request/byte_allowance.h"
#include "server/request/infer_message.h"
#include "server/request/served_model.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// Owned by the daemon; this and the referents outlive all requests. Constant, except where a member
// says otherwise. Thread-safe.
struct StepContext {
  StepContext(InferHandler* admission, const ModelDirectory* directory, ServerMetrics* counters,
              const Clock* time, uint64_t copy_bytes)
      : handler(admission), models(directory), metrics(counters), clock(time), copies(copy_bytes) {}

  InferHandler* const handler;  // admits the requests of steps
  const ModelDirectory* const models;
  ServerMetrics* const metrics;
  const Clock* const clock;
  RequestObservers observers;  // without a request log; set before the first request
  ByteAllowance copies;        // for tensors between steps; self-synchronized
  std::atomic<int64_t> inside{0};
  std::atomic<bool> closed{false};  // the daemon ends: no further step begins
};

}  // namespace mpsd
