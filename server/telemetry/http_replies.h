// HttpReplies: counts HTTP replies by status code.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace mpsd {

// One count for each code that a reply may have; other codes count as 500. Part of ServerMetrics. A
// reply counts before its first byte goes out: a client that has it finds it counted. Thread-safe.
class HttpReplies {
 public:
  static constexpr std::array<int, 21> kCodes = {200, 400, 401, 403, 404, 405, 408,
                                                 409, 413, 415, 417, 422, 424, 429,
                                                 431, 499, 501, 503, 504, 505, 500};

  void Add(int code) {
    size_t index = 0;
    while (index + 1 < kCodes.size() && kCodes[index] != code) ++index;
    counts_[index].fetch_add(1, std::memory_order_relaxed);
  }

  // Replies with kCodes[index].
  uint64_t Count(size_t index) const { return counts_[index].load(std::memory_order_relaxed); }

 private:
  std::array<std::atomic<uint64_t>, kCodes.size()> counts_{};
};

}  // namespace mpsd
