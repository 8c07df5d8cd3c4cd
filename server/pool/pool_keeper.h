// PoolKeeper: a pool's requests to its supervisor.
#pragma once

#include <cstdint>
#include <string>

namespace mpsd {

struct ServedModel;

// Implemented by the Supervisor, which pool/ does not know. It outlives the pool. Thread-safe.
class PoolKeeper {
 public:
  virtual ~PoolKeeper() = default;

  // Kill this worker, which was caught lying. `reason` is for the log. Called with a pool's mutex
  // held: an implementation only takes note, and calls no pool. The worker may be replaced when the
  // note is read: `epoch` tells.
  virtual void Condemn(const ServedModel& model, uint32_t worker, uint32_t epoch,
                       const std::string& reason) = 0;

  // Have Pool::Drain() or Tick() called at this time, or soon after by an awake thread. Called
  // without a lock, on a request's path: does not block.
  virtual void WakeBy(int64_t when_ns) = 0;

  // Have Drain() of all pools called now: one may get its resources. Called without a lock; does
  // not block.
  virtual void WakePools() = 0;
};

}  // namespace mpsd
