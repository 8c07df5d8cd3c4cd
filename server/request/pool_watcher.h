// PoolWatcher: a pool's reports to the queue in front of it.
#pragma once

#include <cstdint>

#include "absl/types/span.h"

namespace mpsd {

// For a queue that binds requests to lanes and keeps some itself. A lane is named by its pin: a
// number that no other lane of the pool ever has, never 0. Implemented by compose/sequences/;
// called by pool/, without its mutex. Thread-safe.
class PoolWatcher {
 public:
  virtual ~PoolWatcher() = default;

  // These lanes take batches from now on. Called by the supervisor's thread.
  virtual void LanesJoined(absl::Span<const uint64_t> pins) = 0;

  // These lanes take no more batches, since their worker is dead or about to be replaced. Called
  // before the worker's requests end. May name lanes that have left before. Called by the
  // supervisor's thread.
  virtual void LanesLeft(absl::Span<const uint64_t> pins) = 0;

  // While there are no lanes, none joins before `when_ns`; INT64_MIN: one may at any moment. Called
  // by the supervisor's thread.
  virtual void ExpectAt(int64_t when_ns) = 0;

  // Called every few milliseconds with the time.
  virtual void Tick(int64_t now_ns) = 0;

  // All requests must end, as UNAVAILABLE with this text.
  virtual void FailAll(const char* text) = 0;
};

}  // namespace mpsd
