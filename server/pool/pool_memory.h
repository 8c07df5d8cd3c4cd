// PoolMemory: a pool's face for getting and returning slab segments.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "proto/shm/segment.h"
#include "server/pool/batch/slab_table.h"

namespace mpsd {

class PoolCarrier;
struct PoolParts;

// Owned by a Pool, called by the supervisor. Thread-safe. Add() copies payloads of waiting requests
// on the caller's thread.
//
// The life of a segment: made and mapped by every worker → Add() → serves rows → RetireIdle():
// takes no rows any more → unmapped by the last worker → Remove().
class PoolMemory {
 public:
  PoolMemory(PoolParts* parts, PoolCarrier* carrier) : parts_(parts), carrier_(carrier) {}

  // Number 0 is the first segment, and stays. REQUIRES: the model's spec is complete, and every
  // attached worker has mapped the segment.
  void Add(OwnedSegment segment, uint32_t number = 0);

  // The bytes of a further segment, if rows found no room and neither kMaxSlabSegments nor
  // MaxSlabBytes() forbids one. The caller answers with Add() or Refuse().
  std::optional<uint64_t> TakeGrowthRequest();

  // Waiting requests are refused as RESOURCE_EXHAUSTED.
  void Refuse();

  // Retires a segment that held nothing during `idle_calls` calls, and returns its number. Never
  // the first segment, and at most one a call.
  std::optional<uint32_t> RetireIdle(uint32_t idle_calls);

  // The caller gives the bytes back to the budget. REQUIRES: RetireIdle() returned the number, and
  // no worker has the segment mapped.
  OwnedSegment Remove(uint32_t number);

  // The segments as workers are told of them, sorted by number.
  std::vector<SlabSegment> Descriptors() const;

  uint64_t Bytes() const;

 private:
  PoolParts* const parts_;
  PoolCarrier* const carrier_;
};

}  // namespace mpsd
