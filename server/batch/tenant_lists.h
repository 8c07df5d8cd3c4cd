// TenantLists: the requests of one rank, a list for each tenant.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "server/batch/request_list.h"
#include "server/request/request.h"
#include "server/schedule/tenant_shares.h"

namespace mpsd {

// One rank of a line (RequestRanks). Whose turn it is among the tenants, TenantShares says, which
// all lines of a pool share: so these lists keep no account of it, and first() may be another
// request after a batch of another line.
//
//   tenant 0   ─ r1 ─ r4 ─ r9      each by deadline
//   tenant 1
//   tenant 2   ─ r2 ─ r3           earliest(): r1 or r2; first(): r1 or r2, by the shares
//
// Invariants, which CheckInvariants() holds it to:
//   1. A request is in the list of its tenant (Request::tenant, below kMaxTenants).
//   2. Each list is sorted by deadline, and rows() is the sum of the requests' rows.
//
// Thread-compatible: guarded by the pool's mutex. It owns no request. Each call costs a step for
// each tenant number up to the highest that was ever here: one where nobody has configured tenants.
class TenantLists {
 public:
  bool empty() const { return rows_ == 0; }
  uint32_t rows() const { return rows_; }

  // The request with the earliest deadline; null when there is none.
  Request* earliest() const;

  // The request that is served first: of the tenant that has had the least, and of equals the one
  // with the earliest deadline. Null when there is none.
  Request* first(const TenantShares& shares) const;

  // REQUIRED by both: there is a request. The latest deadline; the most rows of a request that can
  // be served first.
  int64_t latest_deadline_ns() const;
  uint32_t most_first_rows() const;

  void Insert(Request* request);

  // REQUIRES: the request is here.
  void Remove(Request* request);

  // Calls visit(Request*) for each request, tenant by tenant, and each tenant's by deadline.
  void ForEach(absl::FunctionRef<void(Request*)> visit) const;

  // CHECKs the class's invariants. Slow: for tests.
  void CheckInvariants() const;

 private:
  absl::InlinedVector<RequestList, 1> lists_;  // by tenant
  uint32_t rows_ = 0;
};

}  // namespace mpsd
