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

// Each of several listeners leaves a sixteenth of the door's connections to the others. A host at a
// listener may have as many connections as it leaves to others there: one host gets half, two a
// third each.
//
// Without room a newcomer takes an idle connection's place, in the largest share above its own,
// else in its own share. A connection that never had a call goes first, then the one silent
// longest. If there is none, the newcomer is refused.
//
// Beyond a quarter of the door's connections, a newcomer's handshake of TLS displaces one older
// than kLongHandshakeNs: the oldest of the share with most handshakes. So hosts without end cannot
// fill the door by handshakes that never end. While none is so old, as when many clients come back
// at once, the rules above count.
//
// A connection that was told to end no longer counts, although it is open for a moment. At most
// kMostEnding are so, or a quarter of the door's.
//
// Owned by the HttpServer, one for each group of addresses. Thread-safe.
class ConnectionShares {
 public:
  static constexpr uint32_t kMostEnding = 64;

  // Most handshakes are over sooner.
  static constexpr int64_t kLongHandshakeNs = kNsPerSecond;

  // Pure.
  static uint32_t OfListener(uint32_t connections, size_t listeners) {
    constexpr uint32_t kPartForOthers = 16;
    return listeners > 1 ? connections - connections / kPartForOthers : connections;
  }

  // Pure.
  static uint32_t MostHandshakes(uint32_t connections) { return std::max(connections / 4, 1U); }

  // The referents outlive the call.
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
    bool begins_handshake = false;  // EndHandshake() follows once it succeeded
  };

  class Use;

  ConnectionShares() = default;
  ConnectionShares(const ConnectionShares&) = delete;
  ConnectionShares& operator=(const ConnectionShares&) = delete;

  // Null if refused. The caller calls Use::Leave() when the connection is closed.
  std::shared_ptr<Use> Enter(const Newcomer& newcomer, const Bounds& bounds)
      ABSL_LOCKS_EXCLUDED(mu_);

  uint32_t count() const ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    return count_;
  }

 private:
  struct Share {
    uint32_t count = 0;
    uint32_t uses = 0;  // including those told to end
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

// Shared by a connection's owner and its open calls. Thread-safe.
class ConnectionShares::Use {
 public:
  Use(ConnectionShares* shares, Shares::value_type* share, const Newcomer& newcomer)
      : shares_(shares),
        share_(share),
        heard_ns_(newcomer.now_ns),
        in_handshake_(newcomer.begins_handshake) {}

  void BeginCall() {
    calls_.fetch_add(1, std::memory_order_relaxed);
    had_call_.store(true, std::memory_order_relaxed);
  }
  void EndCall(int64_t now_ns) {
    Heard(now_ns);
    calls_.fetch_sub(1, std::memory_order_relaxed);
  }

  void EndHandshake() { shares_->EndHandshake(this); }

  void Heard(int64_t now_ns) { heard_ns_.store(now_ns, std::memory_order_relaxed); }

  // `end` ends the connection to make room. Called once at most, on any thread, outside the shares'
  // locks; at once if the connection was told to end before.
  void SetEnd(std::function<void()> end) ABSL_LOCKS_EXCLUDED(mu_);

  void Leave() { shares_->Leave(this); }

 private:
  friend class ConnectionShares;

  bool IsIdle() const { return calls_.load(std::memory_order_relaxed) == 0; }
  void End() ABSL_LOCKS_EXCLUDED(mu_);

  ConnectionShares* const shares_;
  Shares::value_type* const share_;  // until it has left; guarded by the shares' mutex
  std::atomic<uint32_t> calls_{0};
  std::atomic<bool> had_call_{false};
  std::atomic<int64_t> heard_ns_;
  bool counts_ = true;  // like the next one guarded by the shares' mutex
  bool in_handshake_;

  absl::Mutex mu_;
  bool was_told_ ABSL_GUARDED_BY(mu_) = false;
  std::function<void()> end_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
