// WorkerBells: has a thread listen to the bells of serving workers.
//
// While all door threads sleep, a worker rings the front end's bell, a pipe of its own:
//
//   worker's lane ── ring ──▶ pipe ──▶ the door thread that slept last ──▶ takes the completion
//
// In the life of one incarnation:
//
//   warm ─▶ Watch() ─▶ PoolWorkers::Attach() ─▶ serves ─▶ dies, reaped ─▶ Unwatch() ─▶ Detach()
//             └ fails: the worker is killed, and has had no batch
#pragma once

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "server/pool/lanes/worker_link.h"

namespace mpsd {

// An interface, so that tests of workers need no such thread. Called on the supervisor's thread.
// Thread-safe.
class WorkerBells {
 public:
  virtual ~WorkerBells() = default;

  // Keeps the link alive until Unwatch(). `give_up` is called at most once, on another thread, if
  // the worker rings for nothing without end. It must not call back into the bells. After an error
  // the worker must not serve.
  virtual absl::Status Watch(std::shared_ptr<WorkerLink> link, std::function<void()> give_up) = 0;

  // Does nothing for a worker that is not watched.
  virtual void Unwatch(const WorkerLink& link) = 0;
};

}  // namespace mpsd
