// ByteAllowance: bounds the bytes of many holders together.
//
// For memory whose size a client chooses and whose end nobody can foretell: inputs copied out of
// regions (server/regions). Each holder takes before it allocates and gives back after it has
// freed:
//
//   if (!held->TryTake(bytes)) return absl::ResourceExhaustedError("…");
//   … allocate, use, free …
//   held->GiveBack(bytes);
#pragma once

#include <atomic>
#include <cstdint>

namespace mpsd {

// A counter with a limit, for one kind of memory. A taker that fails tells its client; it never
// waits. Owned by the part of the daemon whose memory it bounds, and outlives all holders.
//
// Invariant: the bytes taken never exceed the limit.
//
// Thread-safe, lock-free. It orders nothing: other means guard the bytes' memory.
class ByteAllowance {
 public:
  explicit ByteAllowance(uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}
  ByteAllowance(const ByteAllowance&) = delete;
  ByteAllowance& operator=(const ByteAllowance&) = delete;

  // Takes `bytes` more. False if that would exceed the limit; then nothing has changed, not even
  // for a moment.
  bool TryTake(uint64_t bytes) {
    uint64_t taken = taken_bytes_.load(std::memory_order_relaxed);
    do {
      if (bytes > limit_bytes_ - taken) return false;
    } while (!taken_bytes_.compare_exchange_weak(taken, taken + bytes, std::memory_order_relaxed));
    return true;
  }

  // Gives bytes back, in one piece or several. REQUIRES: as many are taken.
  void GiveBack(uint64_t bytes) { taken_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }

  // For metrics: another thread may have changed it by now.
  uint64_t taken_bytes() const { return taken_bytes_.load(std::memory_order_relaxed); }

 private:
  const uint64_t limit_bytes_;
  std::atomic<uint64_t> taken_bytes_{0};
};

}  // namespace mpsd
