// CompletionSource: where the threads of a door find completed batches.
#pragma once

#include <cstddef>

namespace mpsd {

// What a door's thread knows of dispatch/: a place to look for completed batches. Between two looks
// it takes the events of its connections, so that under load one thread does both without ever
// sleeping or being woken.
//
//   Wake ─▶ events, Drain, events, Drain … nothing to do ─▶ Park ─ true ─▶ sleep in its queue ────┐
//     ▲                                        ▲               └─ false ─▶ go on                  │
//     └─────────────────────────────────────────────────────────────────────── an event ──────────┘
//
// A thread that sleeps in its queue finds no completion: another thread that is awake does, else
// `completions`. Implemented over dispatch/'s Plane, wired in the daemon. Thread-safe.
class CompletionSource {
 public:
  virtual ~CompletionSource() = default;

  // Ends the requests of the batches that have completed: steps 11 to 13 of their lives run in this
  // call, on this thread. Returns how many batches there were. Never blocks.
  virtual size_t Drain() = 0;

  // The calling thread, which is parked or new, looks for completions from now on. No worker rings
  // while any thread is awake.
  virtual void Wake() = 0;

  // The calling thread is about to sleep. False when completions were found at the last look: then
  // the thread is still awake, and must not sleep before another Park() returned true.
  virtual bool Park() = 0;
};

}  // namespace mpsd
