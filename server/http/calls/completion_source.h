// CompletionSource: where the threads of a door find completed batches.
#pragma once

#include <cstddef>

#include "proto/base/platform.h"

namespace mpsd {

// Between two looks a thread takes the events of its connections. So under load one thread does
// both and never sleeps or needs waking.
//
//   Wake ─▶ events, Drain, events, Drain … nothing to do ─▶ Park ─ true ─▶ sleep in its queue ────┐
//     ▲                                        ▲               └─ false ─▶ go on                  │
//     └─────────────────────────────────────────────────────────────────────── an event ──────────┘
//
// Where all threads sleep, a worker's bell wakes the one that fell asleep last. The daemon
// implements this over Plane. Thread-safe.
class CompletionSource {
 public:
  virtual ~CompletionSource() = default;

  // Runs steps 11 to 13 of the completed batches' requests in this call. Returns the number of
  // batches. Never blocks.
  virtual size_t Drain() = 0;

  // The calling thread, parked or new, looks for completions. No worker rings while any thread is
  // awake.
  virtual void Wake() = 0;

  // The calling thread is about to sleep in `ear`. False: the last look found completions, and the
  // thread stays awake until another Park() returns true.
  virtual bool Park(platform::Poller* ear) = 0;

  // Whether a thread may look on before it sleeps (see Patience).
  virtual bool CoresAreLeft() const = 0;

  // `ear` was readable: a bell has rung. The calling thread is awake.
  virtual void ClearBells() = 0;

  // The parked calling thread never sleeps in `ear` again.
  virtual void Leave(platform::Poller* ear) = 0;
};

}  // namespace mpsd
