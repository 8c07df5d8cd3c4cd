// Circuit: lets a model whose workers keep dying rest for a while. Pure.
//
// A model that kills its workers kills the next one too. To start them again at once, for ever,
// would cost the host as much as to serve, and fill the log. So after too many deaths within a
// period no worker starts for a while; then a single one does, as a probe:
//
//              limits.deaths within limits.period
//   kClosed ───────────────────────────────────▶ kOpen ◀──────────────┐
//      ▲                                           │ the rest ends    │ the probe dies
//      │             a worker serves               ▼                  │
//      └─────────────────────────────────────── kProbing ─────────────┘
//
// This is about a model's workers on one device. How long a single worker waits after its deaths is
// BackoffNs() (proto/base/backoff_policy.h); a worker starts only when both allow it. Requests of a
// model that rests are refused, or wait if their deadline lies behind the rest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include "proto/base/clock.h"
#include "server/supervise/policy/supervision_limits.h"

namespace mpsd {

// The rests, which double from one opening to the next.
inline constexpr int64_t kFirstRestNs = kNsPerSecond;
inline constexpr int64_t kLastRestNs = 30 * kNsPerSecond;

enum class CircuitState {
  kClosed,   // workers start without limit        → kOpen, by too many deaths
  kOpen,     // none starts                         → kProbing, after a rest
  kProbing,  // one starts; the others wait for it  → kClosed, when it serves; kOpen, when it dies
};

// One for each device of a generation, owned by its WorkerGroup, which tells it what happens to
// workers and asks it before each start. Takes the time and the randomness from its caller. Keeps
// at most limits.deaths times. Thread-compatible: used on the supervisor's thread.
//
// Deaths that say nothing about the model are not told to it: of a worker that was asked to go, or
// killed from outside (ExitReason::counts). Neither are deaths with one request inside, as
// Conviction says.
class Circuit {
 public:
  // With limits.deaths 0 the circuit never opens.
  explicit Circuit(const CircuitLimits& limits) : limits_(limits) {}

  // A worker died of something that counts. Each time that the circuit opens the rest doubles, from
  // one second to half a minute, less up to a quarter by `jitter` in [0, 1).
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

  // A death was put down to one request, so it says nothing about the model. Neither does the death
  // before it, which was counted because the suspect had neighbours then.
  void OnStrike() {
    if (!deaths_.empty()) deaths_.pop_back();
  }

  // A worker serves. Its service may be short: the deaths and the length of the next rest stay.
  void OnServing() {
    if (state_ == CircuitState::kProbing) state_ = CircuitState::kClosed;
  }

  // A worker has served well for a while: the next rest is as short as the first.
  void OnGoodService() { openings_ = 0; }

  // True when a worker may start now; after a rest it is the probe. `others_starting` is how many
  // workers of the model are on their way on the device already.
  bool MayStart(int64_t now_ns, uint32_t others_starting) {
    if (state_ == CircuitState::kOpen && now_ns >= open_until_ns_) state_ = CircuitState::kProbing;
    if (state_ == CircuitState::kProbing) return others_starting == 0;
    return state_ == CircuitState::kClosed;
  }

  // Opens by OnDeath(), and leaves kOpen by MayStart() only: until a caller asks, a rest that is
  // over is still kOpen.
  CircuitState state() const { return state_; }

  // When the last death was that counts; INT64_MIN: none does.
  int64_t last_death_ns() const { return deaths_.empty() ? INT64_MIN : deaths_.back(); }

  // No worker starts before this; 0: no rest is in force.
  int64_t open_until_ns() const { return state_ == CircuitState::kOpen ? open_until_ns_ : 0; }

 private:
  const CircuitLimits limits_;
  CircuitState state_ = CircuitState::kClosed;
  std::deque<int64_t> deaths_;  // within the period; fewer than limits_.deaths
  uint32_t openings_ = 0;       // since the last good service
  int64_t open_until_ns_ = 0;
};

// The word that `mpsd ps`, the log and clients' tools show.
constexpr const char* CircuitStateName(CircuitState state) {
  constexpr const char* kNames[] = {"closed", "open", "probing"};
  return kNames[static_cast<int>(state)];
}

}  // namespace mpsd
