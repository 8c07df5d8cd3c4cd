// CompletionThread: finds completions while every queue thread sleeps, and keeps the pools' time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/clock.h"
#include "proto/base/platform.h"
#include "server/dispatch/bell_policy.h"
#include "server/dispatch/plane.h"
#include "server/dispatch/worker_link.h"

namespace mpsd {

// One thread of its own sleeps on the bells of all workers that serve. It never starts or ends a
// worker, nor waits for one: whatever supervising takes, no answer waits for it. Start() and Stop()
// are called once each; the others are thread-safe.
class CompletionThread {
 public:
  CompletionThread(Plane* plane, const Clock* clock) : plane_(plane), clock_(clock) {}
  ~CompletionThread() { Stop(); }

  absl::Status Start();

  // Idempotent.
  void Stop();

  // The thread hears this worker's bell from now on. `give_up` is called, once and on the thread,
  // when it rings for nothing without end; then it is not heard any more. It may only take note.
  absl::Status Watch(std::shared_ptr<WorkerLink> link, std::function<void()> give_up);
  void Unwatch(const WorkerLink& link);

  // Ticks the pools at this time at the latest.
  void WakeBy(int64_t when_ns);

 private:
  struct Watched {
    std::shared_ptr<WorkerLink> link;
    std::function<void()> give_up;
    BellWatch bell;
  };

  void Main();
  void Tick();
  void Wait();
  void Clear(uint64_t token);

  Plane* const plane_;
  const Clock* const clock_;

  // Constant after Start(); the poller's set is the kernel's to guard.
  platform::Bell wake_;
  platform::Poller poller_;
  std::thread thread_;

  std::atomic<bool> stopping_{false};
  std::atomic<int64_t> wake_by_ns_{INT64_MAX};

  // Owned by the thread.
  int64_t next_tick_ns_ = 0;

  absl::Mutex mu_;
  uint64_t next_token_ ABSL_GUARDED_BY(mu_) = 1;
  std::map<uint64_t, Watched> links_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
