// InferCallContext: what all calls of a queue that infer share.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <memory>

#include "proto/base/clock.h"
#include "server/accept/call_gate.h"
#include "server/accept/call_trace.h"
#include "server/accept/infer_service.h"
#include "server/accept/open_streams.h"
#include "server/inflate/inflater_threads.h"
#include "server/regions/client_regions.h"
#include "server/request/infer_message.h"
#include "server/telemetry/model_metrics.h"
#include "server/wire/pin_ledger.h"
#include "server/wire/status_map.h"

namespace mpsd {

// Constant once the queue's thread runs. The referents outlive the calls.
struct InferCallContext {
  InferService* service = nullptr;
  grpc::ServerCompletionQueue* queue = nullptr;
  InferHandler* handler = nullptr;
  ServerMetrics* metrics = nullptr;
  const Clock* clock = nullptr;
  OpenStreams* streams = nullptr;
  const std::atomic<bool>* stopping = nullptr;
  uint64_t message_bytes = 0;  // the largest message
  StatusStyle style = StatusStyle::kOwn;
  std::atomic<int>* live_calls = nullptr;
  std::shared_ptr<PinLedger> pins;
  const CallGate* gate = nullptr;
  ClientRegions* regions = nullptr;
  InflaterThreads* inflaters = nullptr;
  CallObservers observers;
};

}  // namespace mpsd
