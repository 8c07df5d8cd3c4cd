// Circuit: pauses a model whose workers keep dying. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include "proto/base/clock.h"
#include "server/request/supervision_limits.h"

namespace mpsd {

// Each rest is twice as long as the last.
inline constexpr int64_t kFirstRestNs = kNsPerSecond;
inline constexpr int64_t kLastRestNs = 30 * kNsPerSecond;

enum class CircuitState {
  kClosed,   // workers start       → kOpen, by too many deaths
  kOpen,     // none starts         → kProbing, after a rest
  kProbing,  // one starts          → kClosed, when it serves; kOpen, when it dies
};

// For a model's workers on one device. After too many deaths no worker starts for a while; then a
// single one does, as a probe:
//
//              limits.deaths within limits.period
//   kClosed ───────────────────────────────────▶ kOpen ◀──────────────┐
//      ▲                                           │ the rest ends    │ the probe dies
//      │             a worker serves               ▼                  │
//      └─────────────────────────────────────── kProbing ─────────────┘
//
// While the model rests, requests are refused, or wait if their deadline lies after the rest. A
// single worker also waits by BackoffNs() (proto/base/backoff_policy.h). Deaths that say nothing
// about the model (ExitReason::counts) are not reported here, nor deaths put down to one request
// (Conviction).
//
// Owned by the WorkerGroup. Keeps at most limits.deaths times. Thread-compatible: used on the
// supervisor's thread.
class Circuit {
 public:
  // With limits.deaths 0 it never opens.
  explicit Circuit(const CircuitLimits& limits) : limits_(limits) {}

  // A death that counts. The rest is shortened by up to a quarter, by `jitter` in [0, 1).
  void OnDeath(int64_t now_ns, double jitter) {
    if (limits_.deaths == 0) return;
    deaths_.push_back(now_ns);
    const int64_t since_ns = now_ns - limits_.period_ns;
    while (!deaths_.empty() && deaths_.front() <= since_ns) deaths_.pop_front();
    if (state_ == CircuitState::kOpen) return;
    if (state_ == CircuitState::kClosed && deaths_.size() < limits_.deaths) return;
    const int64_t rest_ns = std::min(kLastRestNs, kFirstRestNs << std::min(openings_, 10U));
    ++openings_;
    deaths_.clear();
    state_ = CircuitState::kOpen;
    open_until_ns_ =
        now_ns + rest_ns - static_cast<int64_t>(static_cast<double>(rest_ns) * jitter / 4);
  }

  // A death was put down to one request. The death before it says nothing either: it counted
  // because the suspect had neighbours.
  void OnStrike() {
    if (!deaths_.empty()) deaths_.pop_back();
  }

  // A worker serves, perhaps not for long: the deaths and the length of the next rest stay.
  void OnServing() {
    if (state_ == CircuitState::kProbing) state_ = CircuitState::kClosed;
  }

  // The next rest is as short as the first.
  void OnGoodService() { openings_ = 0; }

  // Whether a worker may start now. `others_starting`: workers of the model that already start on
  // the device.
  bool MayStart(int64_t now_ns, uint32_t others_starting) {
    if (state_ == CircuitState::kOpen && now_ns >= open_until_ns_) state_ = CircuitState::kProbing;
    if (state_ == CircuitState::kProbing) return others_starting == 0;
    return state_ == CircuitState::kClosed;
  }

  // A rest that is over is still kOpen until MayStart() is asked.
  CircuitState state() const { return state_; }

  // The last counted death; INT64_MIN: none.
  int64_t last_death_ns() const { return deaths_.empty() ? INT64_MIN : deaths_.back(); }

  // No worker starts before this time; 0: no rest.
  int64_t open_until_ns() const { return state_ == CircuitState::kOpen ? open_until_ns_ : 0; }

 private:
  const CircuitLimits limits_;
  CircuitState state_ = CircuitState::kClosed;
  std::deque<int64_t> deaths_;  // within the period
  uint32_t openings_ = 0;       // since the last good service
  int64_t open_until_ns_ = 0;
};

// For `mpsd ps`, the log and clients' tools.
constexpr const char* CircuitStateName(CircuitState state) {
  constexpr const char* kNames[] = {"closed", "open", "probing"};
  return kNames[static_cast<int>(state)];
}

}  // namespace mpsd
