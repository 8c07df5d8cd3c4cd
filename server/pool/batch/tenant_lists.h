// TenantLists: the requests of one rank, one list per tenant.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "server/pool/batch/request_list.h"
#include "server/pool/schedule/tenant_shares.h"
#include "server/request/request.h"

namespace mpsd {

// TenantShares, common to all lines of a pool, decides which tenant is next. So first() may change
// after a batch of another line.
//
//   tenant 0   ─ r1 ─ r4 ─ r9      each by deadline
//   tenant 1
//   tenant 2   ─ r2 ─ r3           earliest(): r1 or r2; first(): r1 or r2, by the shares
//
// Invariants:
//   1. A request is in the list of its tenant (Request::tenant, below kMaxTenants).
//   2. Each list is sorted by deadline, and rows() is the sum of the requests' rows.
//
// Thread-compatible: the pool's mutex guards it. Each call costs a step per tenant number up to the
// highest ever used here.
class TenantLists {
 public:
  bool empty() const { return rows_ == 0; }
  uint32_t rows() const { return rows_; }

  // Null if there is none.
  Request* earliest() const;

  // Its tenant was served least; between equals, it has the earliest deadline. Null if there is
  // none.
  Request* first(const TenantShares& shares) const;

  // The rows are of the largest request that may be served first. REQUIRE that there is a request.
  int64_t latest_deadline_ns() const;
  uint32_t most_first_rows() const;

  void Insert(Request* request);

  // REQUIRES: the request is here.
  void Remove(Request* request);

  void ForEach(absl::FunctionRef<void(Request*)> visit) const;

  // Slow: for tests.
  void CheckInvariants() const;

 private:
  absl::InlinedVector<RequestList, 1> lists_;  // by tenant
  uint32_t rows_ = 0;
};

}  // namespace mpsd
