// RequestRanks: requests in the order of service: by rank, then by share and deadline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "server/pool/batch/tenant_lists.h"
#include "server/pool/schedule/tenant_shares.h"
#include "server/request/request.h"

namespace mpsd {

// One TenantLists per rank (Request::rank()) ever used here. Thread-compatible: guarded by the
// pool's mutex. It owns no request and ends none. Each call costs a step per rank; there is one
// rank unless a model has priorities.
//
//   level      0                  1
//   rank       0      1           2      3
//              new    delayed     new    delayed        served from the left to the right
//
// A request that may be delayed does not expire while its answer can still be in time. TakeExpired
// delays it instead, once: it moves to the next rank, with the deadline of its answer. Ranks are
// strict: a rank is served only when all ranks before it are empty.
//
// Invariants: each request is in the lists of its rank, so nobody changes Request::level or
// Request::delayed while the request is here. The invariants of TenantLists hold too.
class RequestRanks {
 public:
  bool empty() const;
  uint32_t rows() const;

  // In the first rank that has requests: the one with the earliest deadline, and the one that is
  // served first. Null if there is none.
  Request* earliest() const;
  Request* first(const TenantShares& shares) const;

  // All ranks; ranks beyond these have no request.
  const absl::InlinedVector<TenantLists, 1>& ranks() const { return ranks_; }

  void Insert(Request* request);

  // REQUIRES: the request is here.
  void Remove(Request* request) { ranks_[request->rank()].Remove(request); }

  // Takes out the requests of one rank, or of all, whose deadline is not after `until_ns`, and
  // appends them to `expired`. Returns how many were delayed instead. Costs a step for each request
  // taken out or delayed. REQUIRES: a request of that rank was here before.
  uint32_t TakeExpiredOf(uint32_t rank, int64_t until_ns, std::vector<Request*>* expired);
  uint32_t TakeExpired(int64_t until_ns, std::vector<Request*>* expired);

  // Calls visit(Request*) for each request, rank by rank.
  void ForEach(absl::FunctionRef<void(Request*)> visit) const;

  // CHECKs that each request is in its rank, and what TenantLists CHECKs. Slow: for tests.
  void CheckInvariants() const;

 private:
  const TenantLists* FirstRank() const;

  absl::InlinedVector<TenantLists, 1> ranks_;
};

}  // namespace mpsd
