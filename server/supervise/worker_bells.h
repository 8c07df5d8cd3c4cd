// WorkerBells: has a thread listen to the bells of the workers that serve.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "server/dispatch/completion_thread.h"
#include "server/lanes/worker_link.h"

namespace mpsd {

// Called on the supervisor's thread when a worker begins to serve and when it is dead; never on a
// request's path. Thread-safe.
class WorkerBells {
 public:
  virtual ~WorkerBells() = default;

  // From now on completions of this worker are found even while all queue threads sleep. `give_up`
  // is called at most once, on another thread, when the worker rings for nothing without end.
  virtual absl::Status Watch(std::shared_ptr<WorkerLink> link, std::function<void()> give_up) = 0;

  // Does nothing for a worker that is not watched.
  virtual void Unwatch(const WorkerLink& link) = 0;
};

// The bells that the completion thread hears. Thread-safe. The thread outlives it.
class CompletionBells final : public WorkerBells {
 public:
  explicit CompletionBells(CompletionThread* thread) : thread_(thread) {}

  absl::Status Watch(std::shared_ptr<WorkerLink> link, std::function<void()> give_up) override {
    return thread_->Watch(std::move(link), std::move(give_up));
  }
  void Unwatch(const WorkerLink& link) override { thread_->Unwatch(link); }

 private:
  CompletionThread* const thread_;
};

}  // namespace mpsd
