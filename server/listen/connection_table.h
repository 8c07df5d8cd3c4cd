// ConnectionTable: what the process knows about each client connection, by descriptor.
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

struct ConnectionNames {
  std::string local;             // own end: "unix:PATH" or ":PORT"
  uint32_t local_peer_port = 0;  // port of the other end if on this host; else 0
  std::string peer;              // other end, as from PeerName()
};

// A counted connection, and its descriptor.
struct OpenConnection {
  int fd = -1;
  std::shared_ptr<ConnectionShares::Use> use;  // null: none
};

// One descriptor's place in the table: a listener, a connection, or neither. It forgets everything
// when the descriptor is closed or given out again. Thread-safe.
class ConnectionPlace {
 public:
  enum class Use : uint8_t { kNone, kListener, kConnection };

  Use use() const { return use_.load(std::memory_order_acquire); }

  // Port of the other end if on this host; else 0. Takes no lock.
  uint32_t local_peer_port() const { return local_peer_port_.load(std::memory_order_relaxed); }
  std::string local_name() const ABSL_LOCKS_EXCLUDED(mu_);
  std::string peer() const ABSL_LOCKS_EXCLUDED(mu_);

  // Calls `act` if the connection is with this peer; the descriptor stays open meanwhile. Else
  // false.
  bool DoIfWith(absl::string_view peer, const std::function<void()>& act) const
      ABSL_LOCKS_EXCLUDED(mu_);

  // The same for the connection with this use.
  bool DoIfUsedAs(const ConnectionShares::Use* use, const std::function<void()>& act) const
      ABSL_LOCKS_EXCLUDED(mu_);

  // The descriptor's epoll, if any.
  std::optional<EpollEntry> epoll() const ABSL_LOCKS_EXCLUDED(mu_);
  void SetEpoll(std::optional<EpollEntry> entry) ABSL_LOCKS_EXCLUDED(mu_);

  // Called before each read of a connection. True if the read must find nothing.
  bool MustPause(const Clock& clock) ABSL_LOCKS_EXCLUDED(mu_);

  // Limit of the next read.
  size_t most_bytes() const { return most_bytes_.load(std::memory_order_relaxed); }

  // Called after each other read, with the bytes received, perhaps in pieces. `is_last`: nothing
  // was left, and gRPC knows.
  Flood Took(absl::Span<const iovec> pieces, size_t bytes, bool is_last, const Clock& clock)
      ABSL_LOCKS_EXCLUDED(mu_);
  void FoundNothing() ABSL_LOCKS_EXCLUDED(mu_);

  // A call of the connection with this use was cancelled; see FrameMeter.
  Flood CountReset(const ConnectionShares::Use* use, bool is_late, int64_t now_ns)
      ABSL_LOCKS_EXCLUDED(mu_);

  // The connection floods, and gives nothing more from now on. True if it was not cut before: bytes
  // in its buffer may be read, and found to flood, once more.
  bool Cut() { return !is_cut_.exchange(true, std::memory_order_relaxed); }

 private:
  friend class ConnectionTable;

  // Forgets everything and begins anew. Returns the former connection's use, if it counted.
  std::shared_ptr<ConnectionShares::Use> Become(Use use) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  void PublishRound() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  std::atomic<Use> use_{Use::kNone};
  std::atomic<bool> is_cut_{false};
  std::atomic<uint32_t> local_peer_port_{0};
  // Copy of round_'s state: most reads need no lock.
  std::atomic<bool> must_pause_{false};
  std::atomic<bool> is_timed_{false};
  std::atomic<size_t> most_bytes_{SIZE_MAX};

  mutable absl::Mutex mu_;
  std::shared_ptr<ConnectionShares::Use> counted_ ABSL_GUARDED_BY(mu_);  // null: not counted
  std::string local_name_ ABSL_GUARDED_BY(mu_);
  std::string peer_ ABSL_GUARDED_BY(mu_);
  std::optional<EpollEntry> epoll_ ABSL_GUARDED_BY(mu_);
  ReadRound round_ ABSL_GUARDED_BY(mu_);
  std::optional<FrameMeter> meter_ ABSL_GUARDED_BY(mu_);  // for a connection
};

// The places of all descriptors, by number; finding one costs two loads. Memory for places comes in
// blocks as descriptors grow, and stays. Its callers sit in accept4(), epoll_ctl(), recvmsg() and
// close(), and tell it everything. Thread-safe.
class ConnectionTable {
 public:
  // Descriptors beyond this have no place. Linux gives none out by default.
  static constexpr int kDescriptors = 1 << 20;

  struct NewConnection {
    ConnectionNames names;
    FrameBounds frames;
    int64_t now_ns = 0;
    std::shared_ptr<ConnectionShares::Use> use;  // from shares(); null: not counted
  };

  // The table that the process's system calls keep. There is one, because a process has one table
  // of descriptors, and gRPC calls accept4() without an object of mpsd. Never destroyed.
  static ConnectionTable& OfProcess();

  ConnectionTable() = default;
  ~ConnectionTable();
  ConnectionTable(const ConnectionTable&) = delete;
  ConnectionTable& operator=(const ConnectionTable&) = delete;

  // Does nothing if the descriptor can have no place.
  void AddListener(int fd);

  // False if the descriptor can have no place: the connection's use has left then.
  bool AddConnection(int fd, NewConnection connection);

  void Remove(int fd);

  // The place of a listener or a connection; null for all others.
  ConnectionPlace* Find(int fd) const;

  void ForEach(const std::function<void(int fd, const ConnectionPlace& place)>& visit) const;

  // The counted connection with this peer, as PeerName() names it. Clients of Unix sockets have no
  // such names.
  OpenConnection Of(absl::string_view peer) const ABSL_LOCKS_EXCLUDED(mu_);

  // Counted connections.
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
