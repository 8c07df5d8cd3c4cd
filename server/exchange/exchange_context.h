// ExchangeContext: what all exchanges of one thread of a door share.
#pragma once

#include "proto/base/clock.h"
#include "proto/base/thread_role.h"
#include "server/exchange/request_ending.h"
#include "server/regions/client_regions.h"
#include "server/request/infer_message.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// Constant once calls arrive. The referents outlive the exchanges. Thread-safe.
struct ExchangeContext {
  InferHandler* handler = nullptr;
  ServerMetrics* metrics = nullptr;
  const Clock* clock = nullptr;
  ClientRegions* regions = nullptr;
  const ThreadRole* thread = nullptr;  // the calls' thread
  RequestObservers observers;
};

}  // namespace mpsd
