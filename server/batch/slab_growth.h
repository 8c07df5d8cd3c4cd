// SlabGrowth: when a pool asks for a further slab segment, and how large a one.
#pragma once

#include <cstdint>
#include <optional>

namespace mpsd {

// Owned by a pool's queue. Thread-compatible: guarded by the pool's mutex. It reads no clock.
//
// A growth request is how a pool says that rows found no room though the queue's bounds allow them:
//
//   PoolQueue      Miss(): asked for     the supervisor is woken; the request waits for memory
//   supervisor     Take(): taken         it makes a segment, and has every worker map it
//                  Granted(): none       the segment is in the pool, and waiting requests get rows
//                  Refused(): none       waiting requests are refused as RESOURCE_EXHAUSTED
//
// Misses while a request is asked for make it as large as the largest of them. Memory that may
// never come is not waited for: Miss() asks for nothing beyond kMaxSlabSegments segments or
// `max_bytes`.
//
// Legal states of a growth request:
//   none → asked (Miss) → taken (Take) → none (Granted, Refused).
// A miss while a request is taken is noted, but Granted() and Refused() forget it: a request that
// then still finds no room asks anew.
class SlabGrowth {
 public:
  static constexpr int64_t kPauseNs = 100 * 1'000'000;

  // The segments that the pool has, and the most bytes that all of them may take together.
  struct Memory {
    uint32_t segments = 0;
    uint64_t bytes = 0;
    uint64_t max_bytes = 0;
  };

  // A slab of `missed_bytes` found no room. True when the supervisor should be woken: a request is
  // asked for and none was. Asks for nothing for kPauseNs once memory was refused, or once the pool
  // has all that it may have. REQUIRES: missed_bytes > 0.
  bool Miss(uint64_t missed_bytes, const Memory& memory, int64_t now_ns);

  // The bytes of the segment that is asked for; nothing when none is, or another is still taken.
  // The caller answers with Granted() or Refused().
  std::optional<uint64_t> Take(uint64_t have_bytes);

  // The segment is in the pool.
  void Granted();

  // Nothing is asked for again until kPauseNs have passed.
  void Refused(int64_t now_ns);

  // True when memory may come, so that it is worth waiting for.
  bool expected() const { return asked_bytes_ > 0 || taken_; }

 private:
  uint64_t asked_bytes_ = 0;  // of the largest slab without room; 0: nothing is asked for
  bool taken_ = false;
  int64_t paused_until_ns_ = INT64_MIN;
};

}  // namespace mpsd
