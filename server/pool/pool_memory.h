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

// Owned by a Pool. Called by the supervisor, which makes the segments, hands them to the workers
// and keeps the budget of all models. Thread-safe. Never maps, makes or unmaps a segment itself,
// and never asks a worker: the caller keeps the REQUIRES below.
//
// The pool asks for no segment beyond kMaxSlabSegments, nor if the rows without room would take it
// beyond MaxSlabBytes() (server/pool/batch). Add() and Refuse() carry out what they find on the
// caller's thread: Add() copies payloads of waiting requests.
//
// The life of a segment: made and mapped by every worker → Add() → serves rows → RetireIdle():
// takes no rows any more → unmapped by the last worker → Remove().
class PoolMemory {
 public:
  // Both outlive this.
  PoolMemory(PoolParts* parts, PoolCarrier* carrier) : parts_(parts), carrier_(carrier) {}

  // Gives the pool memory for rows: waiting requests get theirs. Number 0 is the first segment, and
  // stays. REQUIRES: the model's spec is complete, and every attached worker has mapped the
  // segment.
  void Add(OwnedSegment segment, uint32_t number = 0);

  // The growth request: bytes of a further segment, since rows found no room; nothing if none is
  // needed. The caller answers with Add() or Refuse().
  std::optional<uint64_t> TakeGrowthRequest();

  // No more memory for now: requests that wait for it are refused as RESOURCE_EXHAUSTED.
  void Refuse();

  // Retires a segment that held nothing during `idle_calls` calls: it takes no more rows. Returns
  // its number. Never the first segment, and at most one a call.
  std::optional<uint32_t> RetireIdle(uint32_t idle_calls);

  // Returns a retired segment; the caller gives its bytes back to the budget. REQUIRES:
  // RetireIdle() returned the number, and no worker has it mapped.
  OwnedSegment Remove(uint32_t number);

  // The segments as workers are told of them, sorted by number.
  std::vector<SlabSegment> Descriptors() const;

  uint64_t Bytes() const;

 private:
  PoolParts* const parts_;
  PoolCarrier* const carrier_;
};

}  // namespace mpsd
