// PoolWatcher: tells a queue about its pool's lanes.
#pragma once

#include <cstdint>

#include "absl/types/span.h"

namespace mpsd {

// For a queue that binds requests to lanes. A pin names a lane, is never used again and never 0.
// Called by pool/ without its mutex, by the supervisor's thread except Tick(). Implemented by
// compose/sequences/. Thread-safe.
class PoolWatcher {
 public:
  virtual ~PoolWatcher() = default;

  // These take batches from now on.
  virtual void LanesJoined(absl::Span<const uint64_t> pins) = 0;

  // These take no more: their worker is dead or about to be replaced. Called before the worker's
  // requests end; may name lanes twice.
  virtual void LanesLeft(absl::Span<const uint64_t> pins) = 0;

  // Without lanes, none joins before `when_ns`; INT64_MIN: one may at any moment.
  virtual void ExpectAt(int64_t when_ns) = 0;

  // Every few milliseconds.
  virtual void Tick(int64_t now_ns) = 0;

  // All requests end as UNAVAILABLE with this text.
  virtual void FailAll(const char* text) = 0;
};

}  // namespace mpsd
