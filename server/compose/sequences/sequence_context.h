// SequenceContext: what the queues of all models with sequences share.
#pragma once

#include <atomic>
#include <cstdint>

#include "proto/base/clock.h"
#include "server/request/byte_allowance.h"

namespace mpsd {

// Owned by the daemon; outlives all requests. Thread-safe.
struct SequenceContext {
  SequenceContext(const Clock* time, uint64_t state_bytes) : clock(time), states(state_bytes) {}

  const Clock* const clock;
  ByteAllowance states;  // self-synchronized
  std::atomic<int64_t> inside{0};
};

}  // namespace mpsd
