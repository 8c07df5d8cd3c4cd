// CompletionSource: where a queue thread looks for completed batches between two events.
#pragma once

#include <cstddef>

namespace mpsd {

// Implemented over dispatch/'s Plane, wired in the daemon. Thread-safe.
class CompletionSource {
 public:
  virtual ~CompletionSource() = default;

  // Finishes the calls of what has completed. Returns how many batches it took.
  virtual size_t Drain() = 0;

  // The caller looks for completions from now on.
  virtual void Wake() = 0;

  // The caller is about to sleep. False when completions were found meanwhile: it is awake still.
  virtual bool Park() = 0;
};

}  // namespace mpsd
