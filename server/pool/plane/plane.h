// Plane: all pools, for the threads that look for completions.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/check.h"
#include "server/pool/plane/bells.h"
#include "server/pool/pool.h"

namespace mpsd {

// Owned by the daemon. Thread-safe. A thread calls Wake() when it begins to work and Park() before
// it sleeps. The last thread to park asks the workers to ring, and hears them if it is a door's.
//
// Invariants:
//  1. While every thread sleeps, every worker that completes a batch rings.
//  2. A completion is found by an awake thread, by the last look of a parking thread, or by a ring.
//     Any other completion is counted as a wake-up by time-out.
//  3. While every thread sleeps, the alarm is set to when the next batch is due. While a thread is
//     awake, that thread drains after its present event, unless the next tick comes first.
class Plane {
 public:
  // Thread-safe.
  class Alarm {
   public:
    virtual ~Alarm() = default;

    // Has the plane ticked at this time at the latest, while every thread sleeps. Does not block.
    virtual void WakeBy(int64_t when_ns) = 0;
  };

  explicit Plane(const Clock* clock) : bells_(clock) {}

  Bells& bells() { return bells_; }

  // `alarm` outlives the plane's threads. REQUIRES: called once, before any thread drains.
  void SetAlarm(Alarm* alarm) {
    MPSD_CHECK(alarm_ == nullptr);
    alarm_ = alarm;
  }

  void Add(Pool* pool);

  // After the return no thread uses `pool`. Blocks while a thread drains or ticks.
  void Remove(Pool* pool);

  // Returns how many batches completed.
  size_t Drain() { return DrainAll(false); }

  // The caller's sleep ended by time-out. Counts the completions that a bell should have announced.
  void WakeByTimeOut();

  // True if no other thread was looking: then everything complete before should have rung.
  bool Wake();

  // False if completions were found meanwhile: the caller stays awake.
  bool Park();

  // While every thread sleeps, `ear` hears the bells.
  bool ParkAndHear(platform::Poller* ear);

  // A batch is due at this time (invariant 3). Any thread calls this.
  void DrainBy(int64_t when_ns);

  // Whether threads and lanes may look for work a little before they sleep. A worker that comes
  // later is told at the next call.
  void SetCoresAreLeft(bool cores_are_left);
  bool cores_are_left() const { return cores_are_left_.load(std::memory_order_relaxed); }

  void Tick();

  void FailAll(const char* text);

  int64_t inside() const;

 private:
  size_t DrainAll(bool after_timeout);
  void NoteAnnounced();
  void SetParked(bool parked);
  bool AllSleep() const;

  Alarm* alarm_ = nullptr;
  Bells bells_;
  std::atomic<bool> cores_are_left_{false};
  std::atomic<int> awake_{0};
  std::atomic<int> parking_{0};             // threads in their last look
  std::atomic<int64_t> due_ns_{INT64_MAX};  // when the earliest batch that waits for a time is due

  mutable absl::Mutex mu_;
  std::vector<Pool*> pools_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
