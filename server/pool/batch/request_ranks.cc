#include "server/pool/batch/request_ranks.h"

#include "proto/base/check.h"

namespace mpsd {

bool RequestRanks::empty() const { return FirstRank() == nullptr; }

uint32_t RequestRanks::rows() const {
  uint32_t rows = 0;
  for (const TenantLists& rank : ranks_) rows += rank.rows();
  return rows;
}

Request* RequestRanks::earliest() const {
  const TenantLists* rank = FirstRank();
  return rank == nullptr ? nullptr : rank->earliest();
}

Request* RequestRanks::first(const TenantShares& shares) const {
  const TenantLists* rank = FirstRank();
  return rank == nullptr ? nullptr : rank->first(shares);
}

const TenantLists* RequestRanks::FirstRank() const {
  for (const TenantLists& rank : ranks_) {
    if (!rank.empty()) return &rank;
  }
  return nullptr;
}

void RequestRanks::Insert(Request* request) {
  const uint32_t rank = request->rank();
  if (rank >= ranks_.size()) ranks_.resize(rank + 1);
  ranks_[rank].Insert(request);
}

uint32_t RequestRanks::TakeExpiredOf(uint32_t rank, int64_t until_ns,
                                     std::vector<Request*>* expired) {
  MPSD_CHECK(rank < ranks_.size());
  uint32_t delayed = 0;
  // In order of deadline: stops at the first live request. Insert() may move the lists.
  while (Request* request = ranks_[rank].earliest()) {
    if (request->deadline_ns > until_ns) break;
    ranks_[rank].Remove(request);
    if (request->MayBeDelayed(until_ns)) {
      request->Delay();
      Insert(request);
      ++delayed;
    } else {
      expired->push_back(request);
    }
  }
  return delayed;
}

uint32_t RequestRanks::TakeExpired(int64_t until_ns, std::vector<Request*>* expired) {
  uint32_t delayed = 0;
  for (uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    delayed += TakeExpiredOf(rank, until_ns, expired);
  }
  return delayed;
}

void RequestRanks::ForEach(absl::FunctionRef<void(Request*)> visit) const {
  for (const TenantLists& rank : ranks_) rank.ForEach(visit);
}

void RequestRanks::CheckInvariants() const {
  for (uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    ranks_[rank].CheckInvariants();
    ranks_[rank].ForEach([rank](const Request* request) { MPSD_CHECK(request->rank() == rank); });
  }
}

}  // namespace mpsd
