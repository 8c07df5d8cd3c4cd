// Quarantine: what requests that crashed their worker held, remembered for a while.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/clock.h"
#include "server/request/request.h"

namespace mpsd {

// A hash of what a worker sees of a request: its rows as they lie at `targets`, padded, and their
// shapes. It is seeded anew in each process, so that nobody outside can choose contents that meet;
// and 64 bits are enough for a few contents: an innocent request meets one of them once in 2^58.
// Thread-safe.
uint64_t HashContent(const Request& request, const RowTargets& targets);

// Thread-safe. Owned by a pool, so that a generation forgets what the one before it died of. Costs
// a request nothing but a look at empty() while no worker was crashed lately.
class Quarantine {
 public:
  static constexpr int64_t kPeriodNs = 300 * kNsPerSecond;
  static constexpr size_t kMaxContents = 64;

  // Remembers the content for kPeriodNs from now on; one too many makes it forget the oldest.
  void Add(uint64_t content, int64_t now_ns);

  // True for a content that is remembered. Forgets what is too old.
  bool Holds(uint64_t content, int64_t now_ns);

  bool empty() const { return size_.load(std::memory_order_acquire) == 0; }

 private:
  struct Entry {
    uint64_t content;
    int64_t until_ns;
  };

  std::atomic<size_t> size_{0};  // of entries_

  absl::Mutex mu_;
  std::deque<Entry> entries_ ABSL_GUARDED_BY(mu_);  // the oldest first
};

}  // namespace mpsd
