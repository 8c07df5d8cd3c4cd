// WorkerBells: has a thread listen to the bells of serving workers.
//
// Awake door threads look for completions themselves. While all of them sleep, a worker rings the
// front end's bell, a pipe of its own, and a thread must read that:
//
//   worker's lane ── ring ──▶ pipe ──▶ the door thread that slept last ──▶ takes the completion
//
// In the life of one incarnation:
//
//   warm ─▶ Watch() ─▶ PoolWorkers::Attach() ─▶ serves ─▶ dies, reaped ─▶ Unwatch() ─▶ Detach()
//             └ fails: the worker is killed, and has had no batch
//
// An interface, so that tests of workers need no such thread.
#pragma once

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "server/pool/lanes/worker_link.h"

namespace mpsd {

// Called on the supervisor's thread when a worker begins to serve and when it is dead; never on a
// request's path. An untrusted process writes to the pipe: if it rings without end it wakes the
// thread for nothing, and is given up. Thread-safe.
class WorkerBells {
 public:
  virtual ~WorkerBells() = default;

  // Completions of this worker are found from now on even while all door threads sleep. Called
  // before the pool gives the worker a batch. Keeps the link alive until Unwatch(). `give_up` is
  // called at most once, on another thread, if the worker rings for nothing without end. It must
  // not call back into the bells; the supervisor kills the worker later. After an error of the
  // operating system the worker must not serve.
  virtual absl::Status Watch(std::shared_ptr<WorkerLink> link, std::function<void()> give_up) = 0;

  // Called once the worker is reaped, before the pool lets go of it. Does nothing for a worker that
  // is not watched.
  virtual void Unwatch(const WorkerLink& link) = 0;
};

}  // namespace mpsd
