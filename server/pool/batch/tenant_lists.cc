#include "server/pool/batch/tenant_lists.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "proto/base/check.h"
#include "proto/base/limits.h"

namespace mpsd {

Request* TenantLists::earliest() const {
  Request* earliest = nullptr;
  for (const RequestList& list : lists_) {
    Request* head = list.head();
    if (head == nullptr) continue;
    if (earliest == nullptr || head->deadline_ns < earliest->deadline_ns) earliest = head;
  }
  return earliest;
}

Request* TenantLists::first(const TenantShares& shares) const {
  if (lists_.size() == 1) return lists_[0].head();
  const auto order = [&shares](const Request& head) {
    return std::pair(shares.served_ns(head.tenant), head.deadline_ns);
  };
  Request* first = nullptr;
  for (const RequestList& list : lists_) {
    Request* head = list.head();
    if (head != nullptr && (first == nullptr || order(*head) < order(*first))) first = head;
  }
  return first;
}

int64_t TenantLists::latest_deadline_ns() const {
  int64_t latest_ns = std::numeric_limits<int64_t>::min();
  for (const RequestList& list : lists_) {
    if (!list.empty()) latest_ns = std::max(latest_ns, list.tail()->deadline_ns);
  }
  return latest_ns;
}

uint32_t TenantLists::most_first_rows() const {
  uint32_t rows = 0;
  for (const RequestList& list : lists_) {
    if (!list.empty()) rows = std::max(rows, list.head()->rows);
  }
  return rows;
}

void TenantLists::Insert(Request* request) {
  MPSD_CHECK(request->tenant < kMaxTenants);
  if (request->tenant >= lists_.size()) lists_.resize(request->tenant + 1);
  lists_[request->tenant].InsertByDeadline(request);
  rows_ += request->rows;
}

void TenantLists::Remove(Request* request) {
  lists_[request->tenant].Remove(request);
  rows_ -= request->rows;
}

void TenantLists::ForEach(absl::FunctionRef<void(Request*)> visit) const {
  for (const RequestList& list : lists_) {
    for (size_t i = 0; i < list.size(); ++i) visit(list.at(i));
  }
}

void TenantLists::CheckInvariants() const {
  uint32_t rows = 0;
  for (uint32_t tenant = 0; tenant < lists_.size(); ++tenant) {
    const RequestList& list = lists_[tenant];
    rows += list.rows();
    for (size_t i = 0; i < list.size(); ++i) {
      MPSD_CHECK(list.at(i)->tenant == tenant);
      MPSD_CHECK(i == 0 || list.at(i)->deadline_ns >= list.at(i - 1)->deadline_ns);
    }
  }
  MPSD_CHECK(rows == rows_);
}

}  // namespace mpsd
