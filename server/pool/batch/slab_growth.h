// SlabGrowth: when a pool asks for another slab segment, and how large it should be.
#pragma once

#include <cstdint>
#include <optional>

namespace mpsd {

// Thread-compatible: its pool's mutex guards it. A growth request reports that rows found no room
// although the queue's bounds allow them:
//
//   PoolQueue      Miss(): asked for     the supervisor is woken; the request waits for memory
//   supervisor     Take(): taken         it makes a segment, and has every worker map it
//
//                  Granted(): none       the segment is in the pool, and waiting requests get rows
//                  Refused(): none       waiting requests are refused as RESOURCE_EXHAUSTED
//
// Several misses before Take() make one request, for the largest. Granted() and Refused() discard a
// miss while a request is taken: a request that still finds no room asks again.
class SlabGrowth {
 public:
  static constexpr int64_t kPauseNs = 100 * 1'000'000;

  struct Memory {
    uint32_t segments = 0;
    uint64_t bytes = 0;
    uint64_t max_bytes = 0;
  };

  // A slab of `missed_bytes` found no room. True if the supervisor should be woken. Asks for
  // nothing beyond kMaxSlabSegments or `max_bytes`, nor during kPauseNs after a refusal. REQUIRES:
  // missed_bytes > 0.
  bool Miss(uint64_t missed_bytes, const Memory& memory, int64_t now_ns);

  // The size of the requested segment; nothing if none is requested, or one is still taken. The
  // caller answers with Granted() or Refused().
  std::optional<uint64_t> Take(uint64_t have_bytes);

  void Granted();

  void Refused(int64_t now_ns);

  bool expected() const { return asked_bytes_ > 0 || taken_; }

 private:
  uint64_t asked_bytes_ = 0;  // largest slab without room; 0: no request
  bool taken_ = false;
  int64_t paused_until_ns_ = INT64_MIN;
};

}  // namespace mpsd
