// ByteAllowance: bounds the bytes of many holders together.
#pragma once

#include <atomic>
#include <cstdint>

namespace mpsd {

// A counter with a limit, for memory whose size a client chooses: inputs copied out of regions
// (server/regions). A holder takes before it allocates, and gives back after it has freed; nobody
// waits. Outlives all holders. Thread-safe, lock-free; orders nothing: other means guard the
// memory.
//
// Invariant: the bytes taken never exceed the limit.
class ByteAllowance {
 public:
  explicit ByteAllowance(uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}
  ByteAllowance(const ByteAllowance&) = delete;
  ByteAllowance& operator=(const ByteAllowance&) = delete;

  // False, without any change, if that would exceed the limit.
  bool TryTake(uint64_t bytes) {
    uint64_t taken = taken_bytes_.load(std::memory_order_relaxed);
    do {
      if (bytes > limit_bytes_ - taken) return false;
    } while (!taken_bytes_.compare_exchange_weak(taken, taken + bytes, std::memory_order_relaxed));
    return true;
  }

  // In one piece or several. REQUIRES: as many are taken.
  void GiveBack(uint64_t bytes) { taken_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }

  // For metrics.
  uint64_t taken_bytes() const { return taken_bytes_.load(std::memory_order_relaxed); }

 private:
  const uint64_t limit_bytes_;
  std::atomic<uint64_t> taken_bytes_{0};
};

}  // namespace mpsd
