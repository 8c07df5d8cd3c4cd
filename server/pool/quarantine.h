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

// A hash of what a worker sees of a request: its padded rows and their shapes. Each process has its
// own seed, so that a client cannot choose contents with equal hashes. With 64 bits an innocent
// request equals one of kMaxContents contents once in 2^58 times. REQUIRES: the rows are live and
// filled. Thread-safe.
uint64_t HashContent(const Request& request);

// The same for a sample of each input, at most kSampledBytes spread over it; cheap enough for every
// request. Contents that differ elsewhere count as equal. This may spare a request, or count the
// death of another as its first. Only HashContent() decides about refusals.
uint64_t SampleContent(const Request& request);

inline constexpr uint64_t kSampledBytes = 4096;

// Keeps a request that crashed its worker from crashing the next one:
//
//   a death alone ─▶ NoteDeath(): the second of one content is a strike
//   an answer ─▶ NoteAnswered(): the content has no deaths any more, and is never refused
//   a strike ─▶ queued requests that hold the same end ─▶ PoolCarrier: HashContent() ─▶ Add()
//   step 6   ─▶ empty()? no ─▶ HashContent() ─▶ Holds()? yes ─▶ INTERNAL, no worker has seen it
//   `mpsd ps` ─▶ Contents(), `mpsd forgive` ─▶ Forgive()
//
// A request with another element, shape or number of rows has another content, and passes. While
// contents are remembered, every request of the pool is hashed once its rows are filled, outside
// the pool's mutex.
//
// Owned by a pool, so a new generation starts without earlier contents. Thread-safe. While no
// worker has crashed lately, a request costs its sample, one look at empty() and one store when it
// is answered.
class Quarantine {
 public:
  static constexpr int64_t kPeriodNs = 300 * kNsPerSecond;
  static constexpr size_t kMaxContents = 64;
  static constexpr size_t kMaxAnswered = 4096;

  // A worker crashed with only this content inside. True if it is the second time within kPeriodNs.
  // Remembers the youngest kMaxContents such contents.
  bool NoteDeath(uint64_t sample, int64_t now_ns);

  // A worker has survived the content, so a death was not its fault. Remembers at most the latest
  // kMaxAnswered, since each has only one place.
  void NoteAnswered(uint64_t sample);
  bool WasAnswered(uint64_t sample) const;

  // Remembers the content for kPeriodNs from now on, also if it is known already. Beyond
  // kMaxContents it forgets the oldest.
  void Add(uint64_t content, int64_t now_ns);

  // Whether the content is remembered. Forgets contents that are too old.
  bool Holds(uint64_t content, int64_t now_ns);

  // The remembered contents, the oldest first. Forgets those that are too old.
  std::vector<RefusedContent> Contents(int64_t now_ns);

  // Forgets everything that is refused or has died, at an operator's wish. Returns how many
  // contents were refused.
  size_t Forgive();

  // Whether nothing is remembered: the usual case, which costs one load. After the last content is
  // too old, false until the next Holds().
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
  std::deque<Entry> deaths_ ABSL_GUARDED_BY(mu_);   // the same for samples that died once
  std::deque<Entry> entries_ ABSL_GUARDED_BY(mu_);  // the oldest first
};

}  // namespace mpsd
