// CompletionSource: the completed batches that a queue thread looks for between two events.
#pragma once

#include <cstddef>

namespace mpsd {

// Implemented over dispatch/'s Plane, wired in the daemon. Thread-safe.
class CompletionSource {
 public:
  virtual ~CompletionSource() = default;

  // Ends the requests of the batches that have completed. Returns how many batches there were.
  virtual size_t Drain() = 0;

  // The calling thread, which is parked or new, looks for completions from now on.
  virtual void Wake() = 0;

  // The calling thread is about to sleep. False when completions were found at the last look: then
  // the thread is still awake.
  virtual bool Park() = 0;
};

}  // namespace mpsd
