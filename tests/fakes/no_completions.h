// NoCompletions: the completions of a server without workers.
#pragma once

#include <cstddef>

#include "server/entry/completion_source.h"

namespace mpsd {

// No batches end. Thread-safe.
class NoCompletions final : public CompletionSource {
 public:
  size_t Drain() override { return 0; }
  void Wake() override {}
  bool Park() override { return true; }
};

}  // namespace mpsd
