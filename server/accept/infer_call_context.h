// InferCallContext: shared by all inference calls of one queue.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <memory>

#include "proto/base/limits.h"
#include "server/accept/call_gate.h"
#include "server/accept/infer_service.h"
#include "server/accept/open_streams.h"
#include "server/entry/open_calls.h"
#include "server/exchange/infer_exchange.h"
#include "server/inflate/inflater_threads.h"
#include "server/wire/pin_ledger.h"
#include "server/wire/status_map.h"

namespace mpsd {

// An InferCall, StreamCall or StreamRequest knows its server only through this. GrpcServer makes
// one for each queue with everything except the queue and its thread, which QueueThread fills in.
//
// Constant once the queue's thread runs. The referents outlive the calls. Thread-safe.
struct InferCallContext {
  ExchangeContext exchange;         // its thread is the queue's
  InferService* service = nullptr;  // where calls are armed
  grpc::ServerCompletionQueue* queue = nullptr;
  OpenStreams* streams = nullptr;
  const std::atomic<bool>* stopping = nullptr;      // streams end
  uint64_t message_bytes = 0;                       // the largest message
  int64_t default_deadline_ns = kDefaultTimeoutNs;  // for calls without one; 0: none
  StatusStyle style = StatusStyle::kOwn;
  std::atomic<int>* live_calls = nullptr;  // armed and open ones; the server stops at 0
  OpenCalls* open_infer_calls = nullptr;
  OpenCalls* open_stream_calls = nullptr;
  std::shared_ptr<PinLedger> pins;
  const CallGate* gate = nullptr;
  InflaterThreads* inflaters = nullptr;
};

}  // namespace mpsd
