// ResponseCache: the kept answers of all models, bounded in bytes.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "server/request/reply.h"
#include "server/request/request.h"

namespace mpsd {

// Has memory of its own, so that it keeps no worker's output leased. The outputs' names are views
// of the spec of its generation, which outlives it. Constant, so thread-safe.
class KeptAnswer {
 public:
  // REQUIRES: no output lies in a region.
  explicit KeptAnswer(const Answer& answer);

  static uint64_t BytesOf(const Answer& answer);

  // Views of this object; the caller must copy them.
  Answer View() const;

 private:
  std::unique_ptr<char[]> bytes_;
  std::vector<AnswerOutput> outputs_;
};

// If the bound would be exceeded, answers at the end of the list are dropped, whatever their model.
// Each generation has a shelf: keys of different shelves never meet.
//
//   entries_   m1 k7 ─ m2 k3 ─ m1 k2 ─ m1 k9          most recently used first
//   shelves_   1: {k7 k2 k9}   2: {k3}
//
// One mutex, held for a look-up and a few list links: answers are copied and freed outside it.
// Owned by the daemon, outlives the ModelCaches. Thread-safe.
class ResponseCache {
 public:
  struct Usage {
    uint64_t answers = 0;
    uint64_t bytes = 0;
    uint64_t evicted = 0;  // to make room for others
  };

  explicit ResponseCache(uint64_t bytes_max) : bytes_max_(bytes_max) {}

  uint64_t AddShelf() ABSL_LOCKS_EXCLUDED(mu_);

  // Releases the lock now and then to let others in.
  void DropShelf(uint64_t shelf) ABSL_LOCKS_EXCLUDED(mu_);

  // An answer of more than an eighth of the total would drive out too many others.
  bool Takes(uint64_t bytes) const { return bytes <= bytes_max_ / 8; }

  // Null if there is none.
  std::shared_ptr<const KeptAnswer> Find(uint64_t shelf, const ContentKey& key)
      ABSL_LOCKS_EXCLUDED(mu_);

  // If an equal answer is there already, that one stays. REQUIRES: Takes(bytes).
  void Put(uint64_t shelf, const ContentKey& key, std::shared_ptr<const KeptAnswer> answer,
           uint64_t bytes) ABSL_LOCKS_EXCLUDED(mu_);

  Usage usage() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Entry {
    uint64_t shelf;
    ContentKey key;
    std::shared_ptr<const KeptAnswer> answer;
    uint64_t bytes;
  };
  using Entries = std::list<Entry>;
  using Shelf = absl::flat_hash_map<ContentKey, Entries::iterator>;

  // The caller frees the entry without the lock.
  void MoveOut(Entries::iterator entry, Entries* out) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool MoveSomeOut(uint64_t shelf, Entries* out) ABSL_LOCKS_EXCLUDED(mu_);

  const uint64_t bytes_max_;
  mutable absl::Mutex mu_;
  Entries entries_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<uint64_t, Shelf> shelves_ ABSL_GUARDED_BY(mu_);
  uint64_t last_shelf_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t evicted_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace mpsd
