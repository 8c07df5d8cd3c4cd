// UnreadCopies: bounds the copies of answers that clients leave unread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

namespace mpsd {

// A client may use half of the limit, so that it alone keeps nobody out. If several use it up, the
// one with the oldest unread copy is cut off, once that copy is kPatienceNs old.
//
// A client is a connection, named by its address. All clients of Unix sockets count as one, which
// is never cut off. Owned by the DoorBounds. Never blocks on a client. Thread-safe.
class UnreadCopies {
 private:
  struct Client {
    uint64_t bytes = 0;
    std::multiset<int64_t> since_ns;  // when each copy was made
    bool is_cut = false;
  };
  using Clients = std::map<std::string, Client, std::less<>>;

 public:
  static constexpr int64_t kPatienceNs = 5LL * 1'000'000'000;

  // Cuts the client's connection, if there is one; called without a lock.
  using Cut = std::function<void(const std::string& peer)>;

  // Returned by the destructor. Thread-compatible.
  class Room {
   public:
    Room(Room&& other) noexcept
        : owner_(std::exchange(other.owner_, nullptr)),
          client_(other.client_),
          since_(other.since_),
          bytes_(other.bytes_) {}
    ~Room() {
      if (owner_ != nullptr) owner_->GiveBack(*this);
    }
    Room& operator=(Room&&) = delete;

   private:
    friend class UnreadCopies;
    Room(UnreadCopies* owner, Clients::iterator client, std::multiset<int64_t>::iterator since,
         uint64_t bytes)
        : owner_(owner), client_(client), since_(since), bytes_(bytes) {}

    UnreadCopies* owner_;  // null: moved from
    const Clients::iterator client_;
    const std::multiset<int64_t>::iterator since_;
    const uint64_t bytes_;
  };

  UnreadCopies(uint64_t limit_bytes, Cut cut) : limit_bytes_(limit_bytes), cut_(std::move(cut)) {}

  // Nothing if there is no room now. The UnreadCopies outlives the room.
  std::optional<Room> Take(absl::string_view peer, uint64_t bytes, int64_t now_ns)
      ABSL_LOCKS_EXCLUDED(mu_);

  uint64_t taken_bytes() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  Room TakeFor(Clients::iterator client, uint64_t bytes, int64_t now_ns)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::optional<std::string> PickStalest(int64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void GiveBack(const Room& room) ABSL_LOCKS_EXCLUDED(mu_);

  const uint64_t limit_bytes_;
  const Cut cut_;

  mutable absl::Mutex mu_;
  uint64_t taken_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  Clients clients_ ABSL_GUARDED_BY(mu_);  // clients with copies
};

}  // namespace mpsd
