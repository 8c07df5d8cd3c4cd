// NoCompletions: the completions of a server without workers.
#pragma once

#include <atomic>
#include <cstddef>

#include "server/http/calls/completion_source.h"

namespace mpsd {

// No batches end. Thread-safe.
class NoCompletions final : public CompletionSource {
 public:
  size_t Drain() override { return 0; }
  void Wake() override {}
  bool Park(platform::Poller*) override { return true; }
  bool CoresAreLeft() const override { return true; }
  void ClearBells() override {}
  void Leave(platform::Poller*) override { ++left; }

  std::atomic<int> left{0};  // threads that have ended
};

}  // namespace mpsd
