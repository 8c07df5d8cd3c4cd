// PoolKeeper: what a pool asks of its supervisor.
#pragma once

#include <cstdint>
#include <string>

namespace mpsd {

struct ServedModel;

// Implemented by supervise/. It outlives the pool. Thread-safe.
class PoolKeeper {
 public:
  virtual ~PoolKeeper() = default;

  // This incarnation of the worker was caught lying: kill it. Called with a pool's mutex held: an
  // implementation only takes note, and calls no pool.
  virtual void Condemn(const ServedModel& model, uint32_t worker, uint32_t epoch,
                       const std::string& reason) = 0;

  // Call Pool::Tick() at this time at the latest. Called without a lock.
  virtual void WakeBy(int64_t when_ns) = 0;
};

}  // namespace mpsd
