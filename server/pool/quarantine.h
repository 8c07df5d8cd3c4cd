// Quarantine: remembers for a while the contents of requests that crashed their worker.
#pragma once

#include <array>
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

// Hashes what a worker sees of a request. Each process has its own seed, so that a client cannot
// choose contents with equal hashes. REQUIRES: the rows are live and filled. Thread-safe.
uint64_t HashContent(const Request& request);

// Hashes at most kSampledBytes of each input; cheap enough for every request. Contents that differ
// elsewhere count as equal, so only HashContent() decides about refusals.
uint64_t SampleContent(const Request& request);

inline constexpr uint64_t kSampledBytes = 4096;

// Owned by a pool, so a new generation starts empty. Thread-safe.
//
//   a death alone ─▶ NoteDeath(): the second of one content is a strike
//   an answer ─▶ NoteAnswered(): the content has no deaths any more, and is never refused
//   a strike ─▶ queued requests that hold the same end ─▶ PoolCarrier: HashContent() ─▶ Add()
//   step 6   ─▶ empty()? no ─▶ HashContent() ─▶ Holds()? yes ─▶ INTERNAL, no worker has seen it
//   `mpsd ps` ─▶ Contents(), `mpsd forgive` ─▶ Forgive()
//
// While contents are remembered, every request of the pool is hashed, outside the pool's mutex.
// Otherwise a request costs its sample, one look at empty() and one store when it is answered.
class Quarantine {
 public:
  static constexpr int64_t kPeriodNs = 300 * kNsPerSecond;
  static constexpr size_t kMaxContents = 64;
  static constexpr size_t kMaxAnswered = 4096;

  // True if the content's second death comes within kPeriodNs. Remembers the youngest kMaxContents.
  bool NoteDeath(uint64_t sample, int64_t now_ns);

  // Each content has one of kMaxAnswered places, where a later one replaces it.
  void NoteAnswered(uint64_t sample);
  bool WasAnswered(uint64_t sample) const;

  // For kPeriodNs from now on. Beyond kMaxContents the oldest is forgotten.
  void Add(uint64_t content, int64_t now_ns);

  bool Holds(uint64_t content, int64_t now_ns);

  // Returns the oldest first.
  std::vector<RefusedContent> Contents(int64_t now_ns);

  // Returns how many contents were refused.
  size_t Forgive();

  // Old contents count until the next Holds().
  bool empty() const { return size_.load(std::memory_order_acquire) == 0; }

 private:
  struct Entry {
    uint64_t content;
    int64_t until_ns;
  };

  void ForgetOld(int64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  static std::deque<Entry>::iterator Find(std::deque<Entry>* entries, uint64_t content);
  static void Remember(std::deque<Entry>* entries, uint64_t content, int64_t now_ns);

  std::atomic<size_t> size_{0};         // entries_.size()
  std::atomic<size_t> deaths_size_{0};  // deaths_.size()
  std::array<std::atomic<uint64_t>, kMaxAnswered> answered_ = {};

  absl::Mutex mu_;
  std::deque<Entry> deaths_ ABSL_GUARDED_BY(mu_);   // samples that died once
  std::deque<Entry> entries_ ABSL_GUARDED_BY(mu_);  // the oldest first
};

}  // namespace mpsd
