// CompletionSource: where the threads of a door find completed batches.
#pragma once

#include <cstddef>

#include "proto/base/platform.h"

namespace mpsd {

// A door's thread looks here for completed batches; it knows nothing else of dispatch/. Between two
// looks it takes the events of its connections. So under load one thread does both and never sleeps
// or needs waking.
//
//   Wake ─▶ events, Drain, events, Drain … nothing to do ─▶ Park ─ true ─▶ sleep in its queue ────┐
//     ▲                                        ▲               └─ false ─▶ go on                  │
//     └─────────────────────────────────────────────────────────────────────── an event ──────────┘
//
// A thread that sleeps finds no completion: another awake thread does. Where all sleep, a worker's
// bell wakes the thread that fell asleep last. Implemented over dispatch/'s Plane, wired in the
// daemon. Thread-safe.
class CompletionSource {
 public:
  virtual ~CompletionSource() = default;

  // Ends the requests of the completed batches: steps 11 to 13 of their lives run in this call, on
  // this thread. Returns the number of batches. Never blocks.
  virtual size_t Drain() = 0;

  // The calling thread, parked or new, looks for completions from now on. No worker rings while any
  // thread is awake.
  virtual void Wake() = 0;

  // The calling thread is about to sleep in `ear`. False if the last look found completions: then
  // the thread is still awake, and must not sleep before another Park() returned true.
  virtual bool Park(platform::Poller* ear) = 0;

  // Whether a thread may look for work a little before it sleeps (see Patience).
  virtual bool CoresAreLeft() const = 0;

  // `ear` was readable: a worker's bell has rung. The calling thread is awake.
  virtual void ClearBells() = 0;

  // The calling thread, parked, never sleeps in `ear` again.
  virtual void Leave(platform::Poller* ear) = 0;
};

}  // namespace mpsd
