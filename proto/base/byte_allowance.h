// ByteAllowance: bytes that many may hold, up to a bound for all of them together.
#pragma once

#include <atomic>
#include <cstdint>

namespace mpsd {

// Thread-safe, lock-free. It orders nothing but itself: the bytes' memory is somebody else's.
class ByteAllowance {
 public:
  explicit ByteAllowance(uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}
  ByteAllowance(const ByteAllowance&) = delete;
  ByteAllowance& operator=(const ByteAllowance&) = delete;

  // Asks to hold `bytes` more. False beyond the bound; then nothing has changed, for others
  // neither, not even for a moment.
  bool TryTake(uint64_t bytes) {
    uint64_t taken = taken_bytes_.load(std::memory_order_relaxed);
    do {
      if (bytes > limit_bytes_ - taken) return false;
    } while (!taken_bytes_.compare_exchange_weak(taken, taken + bytes, std::memory_order_relaxed));
    return true;
  }

  // REQUIRES: so many were taken and not given back.
  void GiveBack(uint64_t bytes) { taken_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }

  uint64_t taken_bytes() const { return taken_bytes_.load(std::memory_order_relaxed); }

 private:
  const uint64_t limit_bytes_;
  std::atomic<uint64_t> taken_bytes_{0};
};

}  // namespace mpsd
