// DoorBounds: the bounds that all calls share.
#pragma once

#include <cstdint>
#include <utility>

#include "proto/base/task_threads.h"
#include "server/bodies/grpc/unread_copies.h"
#include "server/bodies/inflate/inflate_bounds.h"
#include "server/http/calls/open_calls.h"
#include "server/request/held_bytes.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// A ledger for each kind of call, so that lasting streams and watches keep no other call out. Owned
// by the daemon; outlives the calls. Thread-safe.
struct DoorBounds {
  struct Limits {
    uint32_t calls = 0;  // open at once, of each kind
    uint64_t unread_copy_bytes = 0;
    uint64_t message_bytes = 0;
    uint64_t buffered_bytes = 0;
  };

  DoorBounds(const Limits& limits, UnreadCopies::Cut cut, ServerMetrics* metrics)
      : infer_calls(limits.calls, &metrics->refused_calls),
        stream_calls(limits.calls, &metrics->refused_calls),
        other_calls(limits.calls, &metrics->refused_calls),
        unread(limits.unread_copy_bytes, std::move(cut)),
        inflated(limits.buffered_bytes, limits.message_bytes),
        inflate_bounds{limits.message_bytes, &inflated} {}

  OpenCalls infer_calls;
  OpenCalls stream_calls;
  OpenCalls other_calls;
  UnreadCopies unread;
  HeldBytes inflated;  // plain bytes of compressed messages
  const InflateBounds inflate_bounds;
  TaskThreads inflaters;
};

}  // namespace mpsd
