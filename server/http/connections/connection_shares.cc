#include "server/http/connections/connection_shares.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "proto/base/check.h"

namespace mpsd {

void ConnectionShares::Use::SetEnd(std::function<void()> end) {
  {
    absl::MutexLock lock(&mu_);
    if (!was_told_) {
      end_ = std::move(end);
      return;
    }
  }
  end();
}

void ConnectionShares::Use::End() {
  std::function<void()> end;
  {
    absl::MutexLock lock(&mu_);
    was_told_ = true;
    end.swap(end_);
  }
  if (end) end();
}

bool ConnectionShares::ListenerHasRoom(const Shares::value_type& share,
                                       const Bounds& bounds) const {
  const auto found = of_listener_.find(share.first.first);
  const uint32_t open = found == of_listener_.end() ? 0 : found->second;
  return open < bounds.of_listener && share.second.count < bounds.of_listener - open;
}

// Null if the newcomer may take nobody's place.
std::shared_ptr<ConnectionShares::Use> ConnectionShares::Stalest(const Shares::value_type& newcomer,
                                                                 bool at_listener) const {
  // The largest rank wins, so the time is negated.
  using Rank = std::tuple<uint32_t, bool, int64_t>;
  Rank best_rank;
  std::shared_ptr<Use> best;
  for (const auto& [pointer, use] : open_) {
    const Shares::value_type& share = *use->share_;
    if (at_listener && share.first.first != newcomer.first.first) continue;
    if (&share != &newcomer && share.second.count <= newcomer.second.count) continue;
    if (!use->counts_ || !use->IsIdle()) continue;
    const Rank rank{share.second.count, !use->had_call_.load(std::memory_order_relaxed),
                    -use->heard_ns_.load(std::memory_order_relaxed)};
    if (best != nullptr && rank <= best_rank) continue;
    best_rank = rank;
    best = use;
  }
  return best;
}

// Null: none has lasted long.
std::shared_ptr<ConnectionShares::Use> ConnectionShares::LongHandshake(int64_t now_ns) const {
  using Rank = std::pair<uint32_t, int64_t>;
  Rank best_rank;
  std::shared_ptr<Use> best;
  for (const auto& [pointer, use] : open_) {
    const int64_t since_ns = use->heard_ns_.load(std::memory_order_relaxed);
    if (!use->in_handshake_ || now_ns - since_ns < kLongHandshakeNs) continue;
    const Rank rank{use->share_->second.handshakes, -since_ns};
    if (best != nullptr && rank <= best_rank) continue;
    best_rank = rank;
    best = use;
  }
  return best;
}

// False: too many connections are ending.
bool ConnectionShares::Displace(std::shared_ptr<Use> use, const Bounds& bounds, int64_t now_ns,
                                UsesToEnd* displaced) {
  if (ending_ >= std::min(kMostEnding, bounds.connections / 4 + 1)) return false;
  StopCounting(use.get());
  ++ending_;
  bounds.metrics->displaced_connections.fetch_add(1, std::memory_order_relaxed);
  if (bounds.logger != nullptr && told_.Take(now_ns)) {
    bounds.logger->Log(LogLevel::kInfo, "connection_displaced",
                       {{"of_its_host", use->share_->second.count + 1}});
  }
  displaced->push_back(std::move(use));
  return true;
}

bool ConnectionShares::MakeRoom(const Shares::value_type& newcomer, const Bounds& bounds,
                                int64_t now_ns, UsesToEnd* displaced) {
  const bool at_listener = !ListenerHasRoom(newcomer, bounds);
  if (count_ < bounds.connections && !at_listener) return true;
  std::shared_ptr<Use> stalest = Stalest(newcomer, at_listener);
  return stalest != nullptr && Displace(std::move(stalest), bounds, now_ns, displaced);
}

bool ConnectionShares::MakeRoomForHandshake(const Bounds& bounds, int64_t now_ns,
                                            UsesToEnd* displaced) {
  if (handshakes_ < MostHandshakes(bounds.connections)) return true;
  std::shared_ptr<Use> longest = LongHandshake(now_ns);
  return longest == nullptr || Displace(std::move(longest), bounds, now_ns, displaced);
}

std::shared_ptr<ConnectionShares::Use> ConnectionShares::Enter(const Newcomer& newcomer,
                                                               const Bounds& bounds) {
  UsesToEnd displaced;  // destroyed after the lock
  std::shared_ptr<Use> use;
  {
    absl::MutexLock lock(&mu_);
    const auto share = shares_.try_emplace({newcomer.listener, newcomer.host}).first;
    bool has_room = MakeRoom(*share, bounds, newcomer.now_ns, &displaced);
    if (has_room && newcomer.begins_handshake) {
      has_room = MakeRoomForHandshake(bounds, newcomer.now_ns, &displaced);
    }
    if (has_room) {
      ++count_;
      ++of_listener_[newcomer.listener];
      ++share->second.count;
      ++share->second.uses;
      use = std::make_shared<Use>(this, &*share, newcomer);
      open_.emplace(use.get(), use);
    } else {
      if (share->second.uses == 0) shares_.erase(share);
      bounds.metrics->refused_connections.fetch_add(1, std::memory_order_relaxed);
    }
    if (use != nullptr && newcomer.begins_handshake) {
      ++handshakes_;
      ++share->second.handshakes;
    }
  }
  for (const std::shared_ptr<Use>& ended : displaced) ended->End();
  return use;
}

void ConnectionShares::EndHandshake(Use* use) {
  absl::MutexLock lock(&mu_);
  StopShaking(use);
}

void ConnectionShares::StopShaking(Use* use) {
  if (!std::exchange(use->in_handshake_, false)) return;
  MPSD_CHECK(handshakes_ > 0 && use->share_->second.handshakes > 0);
  --handshakes_;
  --use->share_->second.handshakes;
}

void ConnectionShares::StopCounting(Use* use) {
  use->counts_ = false;
  StopShaking(use);
  MPSD_CHECK(count_ > 0 && use->share_->second.count > 0);
  --count_;
  --use->share_->second.count;
  const auto listener = of_listener_.find(use->share_->first.first);
  if (--listener->second == 0) of_listener_.erase(listener);
}

void ConnectionShares::Leave(Use* use) {
  std::shared_ptr<Use> last;  // destroyed after the lock
  absl::MutexLock lock(&mu_);
  const auto found = open_.find(use);
  if (found == open_.end()) return;
  last = std::move(found->second);
  open_.erase(found);
  if (use->counts_) {
    StopCounting(use);
  } else {
    --ending_;
  }
  if (--use->share_->second.uses > 0) return;
  const Shares::key_type key = use->share_->first;
  shares_.erase(key);
}

}  // namespace mpsd
