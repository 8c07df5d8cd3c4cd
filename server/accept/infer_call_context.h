// InferCallContext: what all calls of one queue that infer share.
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

// What an InferCall, a StreamCall and a StreamRequest need of the server: one for each queue, made
// by GrpcServer with everything but the queue and its thread, which QueueThread fills in. The calls
// of a queue know their server by it alone.
//
// Constant once the queue's thread runs. The referents outlive the calls. Thread-safe.
struct InferCallContext {
  ExchangeContext exchange;         // its thread is the queue's
  InferService* service = nullptr;  // where calls are armed
  grpc::ServerCompletionQueue* queue = nullptr;
  OpenStreams* streams = nullptr;
  const std::atomic<bool>* stopping = nullptr;      // streams end
  uint64_t message_bytes = 0;                       // the largest message
  int64_t default_deadline_ns = kDefaultTimeoutNs;  // of calls that bring none; 0: they have none
  StatusStyle style = StatusStyle::kOwn;
  std::atomic<int>* live_calls = nullptr;  // armed and open ones; the server stops at 0
  OpenCalls* open_infer_calls = nullptr;
  OpenCalls* open_stream_calls = nullptr;
  std::shared_ptr<PinLedger> pins;
  const CallGate* gate = nullptr;
  InflaterThreads* inflaters = nullptr;
};

}  // namespace mpsd
