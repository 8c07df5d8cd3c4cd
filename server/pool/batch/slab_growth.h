// SlabGrowth: when a pool asks for another slab segment, and how large it should be.
#pragma once

#include <cstdint>
#include <optional>

namespace mpsd {

// Owned by a pool's queue. Thread-compatible: guarded by the pool's mutex. It reads no clock.
//
// A growth request reports that rows found no room although the queue's bounds allow them:
//
//   PoolQueue      Miss(): asked for     the supervisor is woken; the request waits for memory
//   supervisor     Take(): taken         it makes a segment, and has every worker map it
//
//                  Granted(): none       the segment is in the pool, and waiting requests get rows
//                  Refused(): none       waiting requests are refused as RESOURCE_EXHAUSTED
//
// Several misses before Take() make one request, for the largest. Miss() asks for nothing beyond
// kMaxSlabSegments segments or `max_bytes`, so that nobody waits for memory that cannot come.
//
// Legal states of a growth request:
//   none → asked (Miss) → taken (Take) → none (Granted, Refused).
// A miss while a request is taken is recorded, but Granted() and Refused() discard it. A request
// that still finds no room then asks again.
class SlabGrowth {
 public:
  static constexpr int64_t kPauseNs = 100 * 1'000'000;

  // The pool's segments, and the most bytes that they may take.
  struct Memory {
    uint32_t segments = 0;
    uint64_t bytes = 0;
    uint64_t max_bytes = 0;
  };

  // A slab of `missed_bytes` found no room. True if this made a growth request, so the supervisor
  // should be woken. Asks for nothing during kPauseNs after memory was refused or the pool reached
  // its limit. REQUIRES: missed_bytes > 0.
  bool Miss(uint64_t missed_bytes, const Memory& memory, int64_t now_ns);

  // The size of the requested segment; nothing if none is requested, or one is still taken. The
  // caller answers with Granted() or Refused().
  std::optional<uint64_t> Take(uint64_t have_bytes);

  void Granted();

  // No growth request is made for the next kPauseNs.
  void Refused(int64_t now_ns);

  // True if memory may still come.
  bool expected() const { return asked_bytes_ > 0 || taken_; }

 private:
  uint64_t asked_bytes_ = 0;  // largest slab that found no room; 0: no request
  bool taken_ = false;
  int64_t paused_until_ns_ = INT64_MIN;
};

}  // namespace mpsd
