// ConnectionTable: what the process knows of each descriptor that is a client's connection.
#pragma once

#include <sys/uio.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "server/listen/connection_shares.h"
#include "server/listen/frame_meter.h"
#include "server/listen/read_round.h"

namespace mpsd {

// How a descriptor was added to an epoll.
struct EpollEntry {
  int epoll = -1;
  uint32_t events = 0;
  uint64_t data = 0;
};

// What a connection is called.
struct ConnectionNames {
  std::string local;             // its own end: "unix:PATH" or ":PORT"
  uint32_t local_peer_port = 0;  // of the other end, if that is on this host; 0 otherwise
  std::string peer;              // the other end, as PeerName() gives it
};

// A connection that counts, and its descriptor.
struct OpenConnection {
  int fd = -1;
  std::shared_ptr<ConnectionShares::Use> use;  // null: there is none
};

// One descriptor's place in the table: a listener, a connection, or neither. The place forgets all
// it knew when the descriptor is closed, or is given out again. Thread-safe.
class ConnectionPlace {
 public:
  enum class Use : uint8_t { kNone, kListener, kConnection };

  Use use() const { return use_.load(std::memory_order_acquire); }

  // The other end's port, if that is on this host; 0 otherwise. Takes no lock.
  uint32_t local_peer_port() const { return local_peer_port_.load(std::memory_order_relaxed); }
  std::string local_name() const ABSL_LOCKS_EXCLUDED(mu_);
  std::string peer() const ABSL_LOCKS_EXCLUDED(mu_);

  // Calls `act` if the connection is with this peer; the descriptor stays open meanwhile. False if
  // it is not.
  bool DoIfWith(absl::string_view peer, const std::function<void()>& act) const
      ABSL_LOCKS_EXCLUDED(mu_);

  // The same if the place is that of the connection with this use.
  bool DoIfUsedAs(const ConnectionShares::Use* use, const std::function<void()>& act) const
      ABSL_LOCKS_EXCLUDED(mu_);

  // The epoll that the descriptor is in; nothing when it is in none.
  std::optional<EpollEntry> epoll() const ABSL_LOCKS_EXCLUDED(mu_);
  void SetEpoll(std::optional<EpollEntry> entry) ABSL_LOCKS_EXCLUDED(mu_);

  // Called before each read of a connection. True when the read must find nothing.
  bool MustPause(const Clock& clock) ABSL_LOCKS_EXCLUDED(mu_);

  // How many bytes the next read may have.
  size_t most_bytes() const { return most_bytes_.load(std::memory_order_relaxed); }

  // Called after each other read, with the bytes that have come, which may lie apart. `is_last`:
  // nothing was left, and gRPC knows it.
  Flood Took(absl::Span<const iovec> pieces, size_t bytes, bool is_last, const Clock& clock)
      ABSL_LOCKS_EXCLUDED(mu_);
  void FoundNothing() ABSL_LOCKS_EXCLUDED(mu_);

  // A call of the connection with this use was cancelled; see FrameMeter.
  Flood CountReset(const ConnectionShares::Use* use, bool is_late, int64_t now_ns)
      ABSL_LOCKS_EXCLUDED(mu_);

  // The connection floods, and gives nothing more from now on. True when it was not cut before:
  // what lies in its buffer may be read, and found to flood, once more.
  bool Cut() { return !is_cut_.exchange(true, std::memory_order_relaxed); }

 private:
  friend class ConnectionTable;

  // Forgets all and begins anew. Returns what the connection before was, if it counted.
  std::shared_ptr<ConnectionShares::Use> Become(Use use) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  void PublishRound() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  std::atomic<Use> use_{Use::kNone};
  std::atomic<bool> is_cut_{false};
  std::atomic<uint32_t> local_peer_port_{0};
  // What round_ says: most reads need not lock to know.
  std::atomic<bool> must_pause_{false};
  std::atomic<bool> is_timed_{false};
  std::atomic<size_t> most_bytes_{SIZE_MAX};

  mutable absl::Mutex mu_;
  std::shared_ptr<ConnectionShares::Use> counted_ ABSL_GUARDED_BY(mu_);  // null: it does not
  std::string local_name_ ABSL_GUARDED_BY(mu_);
  std::string peer_ ABSL_GUARDED_BY(mu_);
  std::optional<EpollEntry> epoll_ ABSL_GUARDED_BY(mu_);
  ReadRound round_ ABSL_GUARDED_BY(mu_);
  std::optional<FrameMeter> meter_ ABSL_GUARDED_BY(mu_);  // of a connection
};

// The places of all descriptors, by number. To find one costs two loads. Memory for places comes in
// blocks as descriptors grow, and stays. Knows what it is told: its callers sit in accept4(),
// epoll_ctl(), recvmsg() and close(). Thread-safe.
class ConnectionTable {
 public:
  // A descriptor beyond this number has no place. Linux gives none out unless it is told to.
  static constexpr int kDescriptors = 1 << 20;

  struct NewConnection {
    ConnectionNames names;
    FrameBounds frames;
    int64_t now_ns = 0;
    std::shared_ptr<ConnectionShares::Use> use;  // of shares(); null: it does not count
  };

  // The table that the process's system calls keep. There is one, as there is one table of
  // descriptors in a process, and gRPC calls accept4() without an object of ours. Never destroyed.
  static ConnectionTable& OfProcess();

  ConnectionTable() = default;
  ~ConnectionTable();
  ConnectionTable(const ConnectionTable&) = delete;
  ConnectionTable& operator=(const ConnectionTable&) = delete;

  // Does nothing when the descriptor can have no place.
  void AddListener(int fd);

  // False when the descriptor can have no place: the connection's use has left then.
  bool AddConnection(int fd, NewConnection connection);

  // Called before the descriptor is closed.
  void Remove(int fd);

  // The place of a listener or a connection; null for all others.
  ConnectionPlace* Find(int fd) const;

  // Calls `visit` for each connection.
  void ForEach(const std::function<void(int fd, const ConnectionPlace& place)>& visit) const;

  // The connection that counts and is with this peer, as PeerName() gives it. Clients of Unix
  // sockets have no such names.
  OpenConnection Of(absl::string_view peer) const ABSL_LOCKS_EXCLUDED(mu_);

  // The connections that count.
  ConnectionShares* shares() { return &shares_; }
  uint32_t count() const { return shares_.count(); }

 private:
  static constexpr int kBlockPlaces = 1024;
  using Block = std::array<ConnectionPlace, kBlockPlaces>;

  ConnectionPlace* PlaceOf(int fd);  // made if needed

  std::array<std::atomic<Block*>, kDescriptors / kBlockPlaces> blocks_{};
  ConnectionShares shares_;
  mutable absl::Mutex mu_;
  absl::flat_hash_map<std::string, OpenConnection> of_peer_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
