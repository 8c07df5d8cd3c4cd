// TenantShares: how much lane time each tenant of a pool has had.
#pragma once

#include <algorithm>
#include <cstdint>

#include "absl/container/inlined_vector.h"

namespace mpsd {

// Tenants share a model's lane time equally: among waiting tenants the one that has had the least
// is served first. A tenant that sends a hundred times as much waits only for itself. (Fair
// queueing by start times: a deficit round robin with a quantum of one request.)
//
//   served      A ████████████╎          ╎ now: the count of the tenant that was served last
//               B ████████████╎██        ← waits until A has had as much
//               C ███         ╎          ← was away: enters at `now`, and has saved nothing up
//
// Lane time is predicted when a request leaves its line: the batch's time by its rows. Owned by a
// pool's lines. Thread-compatible: guarded by the pool's mutex. It reads no clock, knows no
// request, and never tells a tenant to wait: no lane is idle for fairness.
//
// Tenants are the numbers that the gate gives callers (Grant::tenant), from 0 and below
// kMaxTenants. A generation starts with nothing served, and shares nothing with other models.
// (ResourceTable uses the same rule for claims: turns by priority, or lane time by weight.)
//
// Invariants:
//   1. `now` only grows.
//   2. A tenant that enters has had at least `now`: time away gives no credit.
//   3. Charged time that a request did not get is given back, once.
class TenantShares {
 public:
  // The tenant has a request in a line. Its time away counts as if it had been served.
  void Enter(uint32_t tenant) {
    if (tenant >= served_ns_.size()) served_ns_.resize(tenant + 1, now_ns_);
    served_ns_[tenant] = std::max(served_ns_[tenant], now_ns_);
  }

  // The number passes to another tenant, without the debt or credit of the one before.
  void Restart(uint32_t tenant) {
    Enter(tenant);
    served_ns_[tenant] = now_ns_;
  }

  // A request of the tenant gets so much lane time, by the forecast. REQUIRES: the tenant has
  // entered.
  void Charge(uint32_t tenant, int64_t lane_ns) {
    now_ns_ = std::max(now_ns_, served_ns_[tenant]);
    served_ns_[tenant] += lane_ns;
  }

  // It got that much less; below 0: more. REQUIRES: Charge() was called before.
  void Refund(uint32_t tenant, int64_t lane_ns) { served_ns_[tenant] -= lane_ns; }

  // The tenant's lane time, for comparison. REQUIRES: the tenant has entered.
  int64_t served_ns(uint32_t tenant) const { return served_ns_[tenant]; }

  // Whether there are several tenants. One alone need not be charged.
  bool is_shared() const { return served_ns_.size() > 1; }

 private:
  absl::InlinedVector<int64_t, 1> served_ns_ = {0};  // by tenant
  int64_t now_ns_ = 0;
};

}  // namespace mpsd
