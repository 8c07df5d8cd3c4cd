// CompletionThread: finds completions while every door thread sleeps, and ticks the pools.
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
#include "server/lanes/worker_link.h"
#include "server/plane/bell_policy.h"
#include "server/plane/plane.h"

namespace mpsd {

// Step 11 of a request's life while every door thread sleeps. This thread sleeps on the bells of
// all serving workers, drains the plane when one rings, and ticks it from time to time. Owned by
// the daemon. It never starts, ends or waits for a worker, so no answer waits for the supervisor.
// Start() is called once. The other methods are thread-safe, except Stop(), which only the caller
// of Start() calls.
class CompletionThread final : public Plane::Alarm {
 public:
  // The longest time between two ticks of the plane, with and without requests inside.
  struct Ticks {
    int64_t busy_ns = 20 * kNsPerMs;
    int64_t idle_ns = 200 * kNsPerMs;
  };

  CompletionThread(Plane* plane, const Clock* clock) : CompletionThread(plane, clock, Ticks()) {}
  CompletionThread(Plane* plane, const Clock* clock, const Ticks& ticks)
      : plane_(plane), clock_(clock), ticks_(ticks) {
    plane_->SetAlarm(this);
  }
  ~CompletionThread() override { Stop(); }

  absl::Status Start();

  // Ends the thread and joins it. Idempotent.
  void Stop();

  // From now on the thread listens to this worker's bell. If the bell rings for nothing too often
  // (see BellWatch), the thread stops listening and calls `give_up`, once. `give_up` must only take
  // note: it runs under this object's mutex. REQUIRES: Start() has succeeded.
  absl::Status Watch(std::shared_ptr<WorkerLink> link, std::function<void()> give_up);

  // The thread stops listening to this worker's bell. Does nothing if it was not listening.
  void Unwatch(const WorkerLink& link);

  // Ticks the plane at this time at the latest.
  void WakeBy(int64_t when_ns) override;

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
  const Ticks ticks_;

  // Constant after Start(). The kernel guards the poller's set of descriptors.
  platform::Bell wake_;
  platform::Poller poller_;
  std::thread thread_;

  std::atomic<bool> stopping_{false};
  std::atomic<int64_t> wake_by_ns_{INT64_MAX};
  std::atomic<bool> sleeps_{false};  // `wake_by_ns_` may have been read already: a ring is needed

  // Owned by the thread.
  int64_t next_tick_ns_ = 0;

  absl::Mutex mu_;
  uint64_t next_token_ ABSL_GUARDED_BY(mu_) = 1;
  std::map<uint64_t, Watched> links_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
