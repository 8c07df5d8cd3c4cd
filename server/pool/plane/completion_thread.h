// CompletionThread: finds completions while every door thread sleeps, and ticks the pools.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "absl/status/status.h"
#include "proto/base/clock.h"
#include "proto/base/platform.h"
#include "server/pool/plane/plane.h"

namespace mpsd {

// Owned by the daemon. It never waits for a worker, so no answer waits for the supervisor. Start()
// is called once, and its caller alone calls Stop(). WakeBy() is thread-safe.
class CompletionThread final : public Plane::Alarm {
 public:
  // The longest time between two ticks, with and without requests inside.
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

  // Idempotent.
  void Stop();

  void WakeBy(int64_t when_ns) override;

 private:
  void Main();
  void Tick();
  void Wait();

  Plane* const plane_;
  const Clock* const clock_;
  const Ticks ticks_;

  // Constant after Start(). The kernel guards the poller's set.
  platform::Bell wake_;
  platform::Poller poller_;
  std::thread thread_;

  std::atomic<bool> stopping_{false};
  std::atomic<int64_t> wake_by_ns_{INT64_MAX};
  std::atomic<bool> sleeps_{false};  // `wake_by_ns_` may have been read already: a ring is needed

  // Owned by the thread.
  int64_t next_tick_ns_ = 0;
  int64_t next_look_ns_ = 0;  // at the host's cores
};

}  // namespace mpsd
