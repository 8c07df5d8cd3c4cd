// ByteAllowance: bounds the bytes that many holders have together.
#pragma once

#include <atomic>
#include <cstdint>

namespace mpsd {

// A counter with a limit, for one kind of memory. Takers that fail say so to their client; they
// never wait here. Owned by the daemon and shared by all holders.
//
// Thread-safe, lock-free. It orders nothing but itself: other means guard the bytes' memory.
class ByteAllowance {
 public:
  explicit ByteAllowance(uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}
  ByteAllowance(const ByteAllowance&) = delete;
  ByteAllowance& operator=(const ByteAllowance&) = delete;

  // Takes `bytes` more. False when that would exceed the limit; nothing has changed then, not even
  // for a moment.
  bool TryTake(uint64_t bytes) {
    uint64_t taken = taken_bytes_.load(std::memory_order_relaxed);
    do {
      if (bytes > limit_bytes_ - taken) return false;
    } while (!taken_bytes_.compare_exchange_weak(taken, taken + bytes, std::memory_order_relaxed));
    return true;
  }

  // Gives bytes back that TryTake() took.
  void GiveBack(uint64_t bytes) { taken_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }

  uint64_t taken_bytes() const { return taken_bytes_.load(std::memory_order_relaxed); }

 private:
  const uint64_t limit_bytes_;
  std::atomic<uint64_t> taken_bytes_{0};
};

}  // namespace mpsd
