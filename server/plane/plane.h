// Plane: all pools, for the threads that look for completions.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/check.h"
#include "server/dispatch/pool.h"

namespace mpsd {

// Owned by the daemon. Thread-safe.
//
// Several threads take turns at finding completions: the gRPC queue threads while they are awake,
// the completion thread when they all sleep. Each calls Wake() when it begins to work and Park()
// before it sleeps. The last thread to park asks the workers to ring their bells; while a thread is
// awake, no worker rings.
//
// Invariants:
//  1. While every thread sleeps, every worker that completes a batch rings.
//  2. A completion is found by an awake thread, or by the last look of a thread that parks, or it
//     is rung for. A completion that is found by none of these is counted as a wake-up by time-out.
//  3. While every thread sleeps, the alarm is set by the time of the next batch that is due. While
//     a thread is awake, nobody is woken for such a batch: that thread drains after the event that
//     it is busy with, unless the next tick comes first.
class Plane {
 public:
  // What wakes a thread at a time while every thread sleeps. Thread-safe.
  class Alarm {
   public:
    virtual ~Alarm() = default;

    // A thread ticks the plane at this time at the latest. Does not block.
    virtual void WakeBy(int64_t when_ns) = 0;
  };

  // `alarm` outlives the plane's threads. REQUIRES: called once, before any thread drains.
  void SetAlarm(Alarm* alarm) {
    MPSD_CHECK(alarm_ == nullptr);
    alarm_ = alarm;
  }

  void Add(Pool* pool);

  // After the return no thread uses `pool`. Blocks while a thread drains or ticks.
  void Remove(Pool* pool);

  // Pool::Drain() of all pools that have work. Returns how many batches completed.
  size_t Drain() { return DrainAll(false); }

  // Wake() and Drain() for a thread whose sleep the time-out ended. Counts the completions that a
  // bell should have told.
  void WakeByTimeOut();

  // The caller looks for completions from now on, so that no worker needs to ring. True when no
  // other thread did: then whatever was complete before should have rung.
  bool Wake();

  // The caller is about to sleep. False when completions were found meanwhile: the caller stays
  // awake, and drains again.
  bool Park();

  // A batch is due at this time: see invariant 3. Any thread calls this, awake or not.
  void DrainBy(int64_t when_ns);

  // Pool::Tick() of all.
  void Tick();

  // Pool::FailAll() of all.
  void FailAll(const char* text);

  int64_t inside() const;

 private:
  size_t DrainAll(bool after_timeout);
  void NoteAnnounced();
  void SetParked(bool parked);
  bool AllSleep() const;

  Alarm* alarm_ = nullptr;
  std::atomic<int> awake_{0};
  std::atomic<int> parking_{0};             // threads that look for the last time
  std::atomic<int64_t> due_ns_{INT64_MAX};  // of the earliest batch that waits for a time

  mutable absl::Mutex mu_;
  std::vector<Pool*> pools_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
