// TenantShares: how much lane time each tenant of a pool has had.
#pragma once

#include <algorithm>
#include <cstdint>

#include "absl/container/inlined_vector.h"

namespace mpsd {

// Among waiting tenants the one that has had the least lane time is served first. (Fair queueing by
// start times: a deficit round robin with a quantum of one request.)
//
//   served      A ████████████╎          ╎ now: the count of the tenant that was served last
//               B ████████████╎██        ← waits until A has had as much
//               C ███         ╎          ← was away: enters at `now`, and has saved nothing up
//
// Thread-compatible: its owner's mutex guards it. No lane is idle for fairness. Tenants are
// Grant::tenant, below kMaxTenants.
//
// Invariants:
//   1. `now` only grows.
//   2. A tenant that enters has had at least `now`: time away gives no credit.
//   3. Charged time that a request did not get is given back, once.
class TenantShares {
 public:
  // The tenant has a request in a line.
  void Enter(uint32_t tenant) {
    if (tenant >= served_ns_.size()) served_ns_.resize(tenant + 1, now_ns_);
    served_ns_[tenant] = std::max(served_ns_[tenant], now_ns_);
  }

  // The number passes to another tenant, without the debt or credit of the one before.
  void Restart(uint32_t tenant) {
    Enter(tenant);
    served_ns_[tenant] = now_ns_;
  }

  // `lane_ns` is predicted. REQUIRES: the tenant has entered.
  void Charge(uint32_t tenant, int64_t lane_ns) {
    now_ns_ = std::max(now_ns_, served_ns_[tenant]);
    served_ns_[tenant] += lane_ns;
  }

  // The request got that much less; below 0: more. REQUIRES: Charge() was called before.
  void Refund(uint32_t tenant, int64_t lane_ns) { served_ns_[tenant] -= lane_ns; }

  // REQUIRES: the tenant has entered.
  int64_t served_ns(uint32_t tenant) const { return served_ns_[tenant]; }

  // One tenant alone need not be charged.
  bool is_shared() const { return served_ns_.size() > 1; }

 private:
  absl::InlinedVector<int64_t, 1> served_ns_ = {0};  // by tenant
  int64_t now_ns_ = 0;
};

}  // namespace mpsd
