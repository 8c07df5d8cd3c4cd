// ResponseCache: the kept answers of all models, bounded in bytes.
#pragma once

#include <cstdint>
#include <list>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "server/cache/kept_answer.h"
#include "server/request/request.h"

namespace mpsd {

// One list of all answers, the one used last in front; where the bound would be exceeded the ones
// at the end go, whatever model they are of. Each generation has a shelf, a table of its own: keys
// of two shelves never meet, and a shelf goes with its generation.
//
//   entries_   m1 k7 ─ m2 k3 ─ m1 k2 ─ m1 k9          used last … first
//   shelves_   1: {k7 k2 k9}   2: {k3}
//
// One mutex, held for a look-up and some links of the list: answers are copied, and freed, outside
// of it. Owned by the daemon, used by the ModelCaches, which it outlives. Never blocks otherwise.
// Thread-safe.
class ResponseCache {
 public:
  struct Usage {
    uint64_t answers = 0;
    uint64_t bytes = 0;
    uint64_t evicted = 0;  // since the start, for others
  };

  explicit ResponseCache(uint64_t bytes_max) : bytes_max_(bytes_max) {}

  // A number for a new shelf, which is empty.
  uint64_t AddShelf() ABSL_LOCKS_EXCLUDED(mu_);

  // Drops the shelf's answers. Lets others go between some of them.
  void DropShelf(uint64_t shelf) ABSL_LOCKS_EXCLUDED(mu_);

  // Whether an answer that takes so much may be kept: one that takes more than an eighth of all
  // would drive too many out.
  bool Takes(uint64_t bytes) const { return bytes <= bytes_max_ / 8; }

  // Null where there is none.
  std::shared_ptr<const KeptAnswer> Find(uint64_t shelf, const ContentKey& key)
      ABSL_LOCKS_EXCLUDED(mu_);

  // Where there is one already, which is equal, that one stays. REQUIRES: Takes(bytes).
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

  // Takes an entry out of the list, so that the caller frees it without the lock.
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
