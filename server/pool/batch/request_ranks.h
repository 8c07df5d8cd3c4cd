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

// Thread-compatible: the pool's mutex guards it. Each call costs a step per rank ever used here;
// one unless a model has priorities.
//
//   level      0                  1
//   rank       0      1           2      3
//              new    delayed     new    delayed        served from the left to the right
//
// A request that may be delayed does not expire while its answer can still be in time. TakeExpired
// delays it instead, once: it moves to the next rank, with the deadline of its answer. A rank is
// served only when all ranks before it are empty.
//
// Invariant: each request is in the lists of its rank, so nobody changes Request::level or
// Request::delayed while the request is here.
class RequestRanks {
 public:
  bool empty() const;
  uint32_t rows() const;

  // Null if there is none.
  Request* earliest() const;
  Request* first(const TenantShares& shares) const;

  const absl::InlinedVector<TenantLists, 1>& ranks() const { return ranks_; }

  void Insert(Request* request);

  // REQUIRES: the request is here.
  void Remove(Request* request) { ranks_[request->rank()].Remove(request); }

  // Take out the requests whose deadline is not after `until_ns`. Return how many were delayed
  // instead. REQUIRES: a request of that rank was here before.
  uint32_t TakeExpiredOf(uint32_t rank, int64_t until_ns, std::vector<Request*>* expired);
  uint32_t TakeExpired(int64_t until_ns, std::vector<Request*>* expired);

  void ForEach(absl::FunctionRef<void(Request*)> visit) const;

  // Slow: for tests.
  void CheckInvariants() const;

 private:
  const TenantLists* FirstRank() const;

  absl::InlinedVector<TenantLists, 1> ranks_;
};

}  // namespace mpsd
