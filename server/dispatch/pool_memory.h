// PoolMemory: the face of a pool that gets slab segments and gives them back.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "proto/shm/segment.h"
#include "server/dispatch/pool_carrier.h"
#include "server/dispatch/pool_parts.h"

namespace mpsd {

// Owned by a Pool. Called by the supervisor, which makes the segments, hands them to the workers
// and keeps the budget of all models. Thread-safe. Never maps, makes or unmaps a segment
// itself, and never asks a worker: the REQUIRES below are the caller's to keep.
//
// Bounds: the pool asks for no segment once it has kMaxSlabSegments of them, nor where the rows
// that found no room would take it beyond MaxSlabBytes() (server/batch). Add() and Refuse() carry
// out what they found on the caller's thread: Add() copies the payloads of requests that waited.
//
// The life of a segment: made and mapped by every worker → Add() → serves rows → RetireIdle(): it
// takes no rows any more → the last worker has unmapped it → Remove().
class PoolMemory {
 public:
  // Both outlive this.
  PoolMemory(PoolParts* parts, PoolCarrier* carrier) : parts_(parts), carrier_(carrier) {}

  // Gives the pool memory for rows: waiting requests get theirs. Number 0 is the first segment, and
  // stays. REQUIRES: the model's spec is complete, and every worker that is attached has mapped the
  // segment.
  void Add(OwnedSegment segment, uint32_t number = 0);

  // The growth request: the bytes of a further segment, since rows found no room. Nothing when none
  // is needed. The caller answers with Add() or Refuse().
  std::optional<uint64_t> TakeGrowthRequest();

  // There is no more memory for now: requests that wait for it are refused as RESOURCE_EXHAUSTED.
  void Refuse();

  // Retires a segment that has held nothing for `idle_calls` calls of this: it takes no rows any
  // more. Returns its number. Never the first segment, and at most one a call.
  std::optional<uint32_t> RetireIdle(uint32_t idle_calls);

  // Gives a retired segment back; its bytes are the caller's to give back to the budget. REQUIRES:
  // RetireIdle() returned the number, and no worker has it mapped.
  OwnedSegment Remove(uint32_t number);

  // The segments as a worker is told of them, in the order of their numbers.
  std::vector<SlabSegment> Descriptors() const;

  // Bytes of all segments.
  uint64_t Bytes() const;

 private:
  PoolParts* const parts_;
  PoolCarrier* const carrier_;
};

}  // namespace mpsd
