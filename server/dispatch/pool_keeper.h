// PoolKeeper: what a pool asks of its supervisor.
#pragma once

#include <cstdint>
#include <string>

namespace mpsd {

struct ServedModel;

// A pool finds out things that it must not do: it starts, ends and kills no process, and keeps no
// time. It tells them here. Implemented by supervise/ (Supervisor), so that dispatch/ does not know
// it; tests have FakePoolKeeper. It outlives the pool. Thread-safe: any thread that calls the pool
// may call this.
class PoolKeeper {
 public:
  virtual ~PoolKeeper() = default;

  // This incarnation of the worker was caught lying: kill it. `reason` names the lie, for the log.
  // The pool gives the worker nothing more and believes nothing more of it, and waits for
  // PoolWorkers::Detach() to take its requests back. Called with a pool's mutex held: an
  // implementation only takes note, and calls no pool. Model and worker may be gone, or replaced,
  // when the note is read: `epoch` tells.
  virtual void Condemn(const ServedModel& model, uint32_t worker, uint32_t epoch,
                       const std::string& reason) = 0;

  // Call Pool::Drain() or Tick() at this time, or as soon after as a thread that is awake comes by:
  // a batch is due then, or memory was asked for (the time is now). Called without a lock, on a
  // request's path: an implementation does not block.
  virtual void WakeBy(int64_t when_ns) = 0;

  // Call Pool::Drain() of all pools, as WakeBy() does now: one of them may get what it waits for
  // (ResourceTable). Called without a lock: an implementation does not block.
  virtual void WakePools() = 0;
};

}  // namespace mpsd
