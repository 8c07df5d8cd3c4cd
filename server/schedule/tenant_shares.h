// TenantShares: how much lane time each tenant of a pool has had.
#pragma once

#include <algorithm>
#include <cstdint>

#include "absl/container/inlined_vector.h"

namespace mpsd {

// Tenants share a model's lanes in equal parts of lane time: of those that wait, the one that has
// had the least is served first. A tenant that asks for a hundred times as much waits for itself.
// (Fair queueing by start times: a deficit round robin with a quantum of one request.)
//
//   served      A ████████████╎          ╎ now: the count of the tenant that was served last
//               B ████████████╎██        ← waits until A has had as much
//               C ███         ╎          ← was away: enters at `now`, and has saved nothing up
//
// Lane time is predicted when a request leaves its line: the batch's time by its rows. Owned by a
// pool's lines. Thread-compatible: guarded by the pool's mutex. It reads no clock, knows no
// request, and never says that a tenant must wait: a lane has never to be idle for fairness.
//
// Tenants are the numbers that the gate gives callers (Grant::tenant), from 0; there are
// kMaxTenants at most. A generation begins with nothing served, and shares nothing with other
// models. (ResourceTable has claims take turns by the same rule, for their priority or for lane
// time by their weight.)
//
// Invariants:
//   1. `now` only grows.
//   2. A tenant that has just entered has had at least `now`: time away gives no credit.
//   3. What a request was charged and did not get is given back, once.
class TenantShares {
 public:
  // The tenant has a request in a line now. Its time away counts as if it had been served.
  void Enter(uint32_t tenant) {
    if (tenant >= served_ns_.size()) served_ns_.resize(tenant + 1, now_ns_);
    served_ns_[tenant] = std::max(served_ns_[tenant], now_ns_);
  }

  // The number is another tenant's from now on: the one before leaves neither debt nor credit.
  void Restart(uint32_t tenant) {
    Enter(tenant);
    served_ns_[tenant] = now_ns_;
  }

  // A request of the tenant gets so much lane time, as far as anybody knows beforehand. REQUIRES:
  // the tenant has entered before.
  void Charge(uint32_t tenant, int64_t lane_ns) {
    now_ns_ = std::max(now_ns_, served_ns_[tenant]);
    served_ns_[tenant] += lane_ns;
  }

  // It did not get that much of it; below 0: it got more. REQUIRES: Charge() was called before.
  void Refund(uint32_t tenant, int64_t lane_ns) { served_ns_[tenant] -= lane_ns; }

  // What the tenant has had, to compare with others. REQUIRES: the tenant has entered before.
  int64_t served_ns(uint32_t tenant) const { return served_ns_[tenant]; }

  // There is more than one. Else there is nothing to share, and nobody needs to charge.
  bool is_shared() const { return served_ns_.size() > 1; }

 private:
  absl::InlinedVector<int64_t, 1> served_ns_ = {0};  // by tenant
  int64_t now_ns_ = 0;
};

}  // namespace mpsd
