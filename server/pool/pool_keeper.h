// PoolKeeper: a pool's requests to its supervisor.
#pragma once

#include <cstdint>
#include <string>

namespace mpsd {

struct ServedModel;

// A pool starts, ends and kills no process, and keeps no time; it asks for that here. Implemented
// by supervise/ (Supervisor), which pool/ does not know; tests have FakePoolKeeper. It outlives
// the pool. Thread-safe: any thread that calls the pool may call this.
class PoolKeeper {
 public:
  virtual ~PoolKeeper() = default;

  // This incarnation of the worker was caught lying: kill it. `reason` names the lie, for the log.
  // The pool gives the worker nothing and believes nothing more, and waits for
  // PoolWorkers::Detach() to take its requests back. Called with a pool's mutex held, so an
  // implementation only takes note, and calls no pool. Model and worker may be gone or replaced
  // when the note is read: `epoch` tells.
  virtual void Condemn(const ServedModel& model, uint32_t worker, uint32_t epoch,
                       const std::string& reason) = 0;

  // Have Pool::Drain() or Tick() called at this time, or soon after, when an awake thread comes by.
  // A batch is due then, or memory was asked for (the time is now). Called without a lock, on a
  // request's path, so an implementation does not block.
  virtual void WakeBy(int64_t when_ns) = 0;

  // Have Pool::Drain() of all pools called, as WakeBy() for now: one of them may get what it waits
  // for (ResourceTable). Called without a lock; does not block.
  virtual void WakePools() = 0;
};

}  // namespace mpsd
