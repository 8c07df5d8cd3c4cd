// Plane: all pools, as the threads see them that wait for completions.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/dispatch/pool.h"

namespace mpsd {

// Thread-safe.
//
// Several threads take turns at finding completions: the gRPC queue threads while they are awake,
// the completion thread when they all sleep. Each calls Wake() when it begins to work and Park()
// before it sleeps; the last one to park asks the workers to ring the bell.
class Plane {
 public:
  void Add(Pool* pool);

  // Waits for the threads that are in the middle of a drain; after the return none looks at `pool`.
  void Remove(Pool* pool);

  // Takes what has completed in all pools and gives the replies. Returns how many batches it took.
  size_t Drain() { return DrainAll(false); }

  // Wake() and Drain() for a thread whose sleep the time-out ended: what should have rung before is
  // counted.
  void WakeByTimeOut();

  // The caller looks for completions from now on, so nobody needs to ring. True when nobody else
  // did: then what was complete before should have rung.
  bool Wake();

  // The caller is about to sleep. False when completions were found meanwhile: drain on.
  bool Park();

  // Pool::Tick() of all.
  void Tick();

  // Pool::FailAll() of all.
  void FailAll(const char* text);

  int64_t inside() const;

 private:
  size_t DrainAll(bool after_timeout);
  void NoteAnnounced();
  void SetParked(bool parked);

  std::atomic<int> awake_{0};
  std::atomic<int> parking_{0};  // threads that look for the last time

  mutable absl::Mutex mu_;
  std::vector<Pool*> pools_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
