// Quarantine: remembers for a while the contents of requests that crashed their worker.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/clock.h"
#include "server/request/request.h"

namespace mpsd {

// A hash of what a worker sees of a request: its padded rows at `targets`, and their shapes. Each
// process has a seed of its own, so that a client cannot choose contents of equal hashes. 64 bits
// are enough for kMaxContents contents: an innocent request equals one of them once in 2^58 times.
// Thread-safe.
uint64_t HashContent(const Request& request, const RowTargets& targets);

// Where a request that crashed its worker is kept from crashing the next one:
//
//   a strike ─▶ queued requests that hold the same end ─▶ PoolCarrier: HashContent() ─▶ Add()
//   step 6   ─▶ empty()? no ─▶ HashContent() ─▶ Holds()? yes ─▶ INTERNAL, no worker has seen it
//   `mpsd ps` ─▶ Contents(), `mpsd forgive` ─▶ Forgive()
//
// A request with another element, shape or number of rows holds something else, and is let through.
// While contents are remembered, every request of the pool is hashed once its rows are filled,
// outside the pool's mutex.
//
// Owned by a pool, so that a new generation starts without the contents of the one before.
// Thread-safe. While no worker has crashed lately, a request costs one look at empty().
class Quarantine {
 public:
  static constexpr int64_t kPeriodNs = 300 * kNsPerSecond;
  static constexpr size_t kMaxContents = 64;

  // Remembers the content for kPeriodNs from now on, also where it is remembered already. Beyond
  // kMaxContents it forgets the oldest.
  void Add(uint64_t content, int64_t now_ns);

  // True when the content is remembered. Forgets contents that are too old.
  bool Holds(uint64_t content, int64_t now_ns);

  // What is remembered, the oldest first. Forgets contents that are too old.
  std::vector<RefusedContent> Contents(int64_t now_ns);

  // Forgets everything, as an operator asked. Returns how many contents that were.
  size_t Forgive();

  // True while nothing is remembered: the usual case, which costs one load. After the last content
  // has grown too old, false until the next Holds().
  bool empty() const { return size_.load(std::memory_order_acquire) == 0; }

 private:
  struct Entry {
    uint64_t content;
    int64_t until_ns;
  };

  void ForgetOld(int64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  std::atomic<size_t> size_{0};  // of entries_

  absl::Mutex mu_;
  std::deque<Entry> entries_ ABSL_GUARDED_BY(mu_);  // the oldest first
};

}  // namespace mpsd
