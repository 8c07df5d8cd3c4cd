// ConnectionShares: which connections of a door may be open, and which one makes room.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/rate_limit.h"
#include "server/telemetry/log/log.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// The connections of one door, each in the share of its host at one listener.
//
// Each of several listeners leaves a sixteenth of the door's connections to the others. A share may
// have as many connections as its listener has left for others. So one host gets half of a
// listener's connections, two hosts get a third each, and a host that has none finds room. No share
// is configured.
//
// If no room is left, a newcomer takes the place of an idle connection:
//
//   which share          the largest that is larger than the newcomer's, or the newcomer's own.
//   which connection     One that never had a call, as a handshake that does not end.
//                        Among several the one that has been silent longest.
//
// Handshakes of TLS have a quarter of the door's connections, so that hosts without end cannot take
// more by handshakes that they do not end. Beyond it a newcomer's handshake takes the place of one
// that has lasted kLongHandshakeNs: the oldest of the share with the most handshakes. While there
// is none, as when many clients come back at once, only the rules above count.
//
// A connection with an open call is never ended. A newcomer is refused if there is neither room nor
// an idle connection. A connection that was told to end no longer counts, although it is open for a
// moment. There are at most kMostEnding of them, or a quarter of the door's connections.
//
// Owned by the HttpServer, one for each group of addresses. Thread-safe.
class ConnectionShares {
 public:
  static constexpr uint32_t kMostEnding = 64;

  // Most handshakes are over sooner.
  static constexpr int64_t kLongHandshakeNs = kNsPerSecond;

  // Limit of one listener's share of the door's connections. Pure.
  static uint32_t OfListener(uint32_t connections, size_t listeners) {
    constexpr uint32_t kPartForOthers = 16;
    return listeners > 1 ? connections - connections / kPartForOthers : connections;
  }

  // Limit of the handshakes that are not over. Pure.
  static uint32_t MostHandshakes(uint32_t connections) { return std::max(connections / 4, 1U); }

  // A door's bounds. A value; the referents outlive the call.
  struct Bounds {
    uint32_t connections = 0;  // at all listeners
    uint32_t of_listener = 0;  // at each
    ServerMetrics* metrics = nullptr;
    Logger* logger = nullptr;  // null: no log
  };

  struct Newcomer {
    int listener = -1;
    uint64_t host = 0;  // HostOf() of its socket
    int64_t now_ns = 0;
    bool begins_handshake = false;  // EndHandshake() is called once it has succeeded
  };

  class Use;

  ConnectionShares() = default;
  ConnectionShares(const ConnectionShares&) = delete;
  ConnectionShares& operator=(const ConnectionShares&) = delete;

  // Takes a connection in; null if refused. The caller calls Leave() when it is closed.
  std::shared_ptr<Use> Enter(const Newcomer& newcomer, const Bounds& bounds)
      ABSL_LOCKS_EXCLUDED(mu_);

  uint32_t count() const ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    return count_;
  }

 private:
  struct Share {
    uint32_t count = 0;  // counted connections
    uint32_t uses = 0;   // including those told to end
    uint32_t handshakes = 0;
  };
  using Shares = std::map<std::pair<int, uint64_t>, Share>;  // by listener and host
  using UsesToEnd = absl::InlinedVector<std::shared_ptr<Use>, 2>;

  bool ListenerHasRoom(const Shares::value_type& share, const Bounds& bounds) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::shared_ptr<Use> Stalest(const Shares::value_type& newcomer, bool at_listener) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::shared_ptr<Use> LongHandshake(int64_t now_ns) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool MakeRoom(const Shares::value_type& newcomer, const Bounds& bounds, int64_t now_ns,
                UsesToEnd* displaced) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool MakeRoomForHandshake(const Bounds& bounds, int64_t now_ns, UsesToEnd* displaced)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool Displace(std::shared_ptr<Use> use, const Bounds& bounds, int64_t now_ns,
                UsesToEnd* displaced) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EndHandshake(Use* use) ABSL_LOCKS_EXCLUDED(mu_);
  void StopShaking(Use* use) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void StopCounting(Use* use) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Leave(Use* use) ABSL_LOCKS_EXCLUDED(mu_);

  mutable absl::Mutex mu_;
  uint32_t count_ ABSL_GUARDED_BY(mu_) = 0;
  uint32_t ending_ ABSL_GUARDED_BY(mu_) = 0;
  uint32_t handshakes_ ABSL_GUARDED_BY(mu_) = 0;
  Shares shares_ ABSL_GUARDED_BY(mu_);
  std::map<int, uint32_t> of_listener_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<Use*, std::shared_ptr<Use>> open_ ABSL_GUARDED_BY(mu_);
  RateLimit told_ ABSL_GUARDED_BY(mu_){1, 0};  // limits log lines
};

// One connection's use, shared by its owner and its open calls. Thread-safe.
class ConnectionShares::Use {
 public:
  Use(ConnectionShares* shares, Shares::value_type* share, const Newcomer& newcomer)
      : shares_(shares),
        share_(share),
        heard_ns_(newcomer.now_ns),
        in_handshake_(newcomer.begins_handshake) {}

  // A call has begun, or has ended.
  void BeginCall() {
    calls_.fetch_add(1, std::memory_order_relaxed);
    had_call_.store(true, std::memory_order_relaxed);
  }
  void EndCall(int64_t now_ns) {
    Heard(now_ns);
    calls_.fetch_sub(1, std::memory_order_relaxed);
  }

  // The handshake of TLS has succeeded.
  void EndHandshake() { shares_->EndHandshake(this); }

  void Heard(int64_t now_ns) { heard_ns_.store(now_ns, std::memory_order_relaxed); }

  // `end` ends the connection to make room. It is called at most once, on any thread, under no lock
  // of the shares; at once if the connection was told to end before.
  void SetEnd(std::function<void()> end) ABSL_LOCKS_EXCLUDED(mu_);

  void Leave() { shares_->Leave(this); }

 private:
  friend class ConnectionShares;

  bool IsIdle() const { return calls_.load(std::memory_order_relaxed) == 0; }
  void End() ABSL_LOCKS_EXCLUDED(mu_);

  ConnectionShares* const shares_;
  Shares::value_type* const share_;  // until it has left; guarded by the shares' mutex
  std::atomic<uint32_t> calls_{0};   // open calls
  std::atomic<bool> had_call_{false};
  std::atomic<int64_t> heard_ns_;
  bool counts_ = true;  // guarded by the shares' mutex, like the next one
  bool in_handshake_;

  absl::Mutex mu_;
  bool was_told_ ABSL_GUARDED_BY(mu_) = false;
  std::function<void()> end_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
