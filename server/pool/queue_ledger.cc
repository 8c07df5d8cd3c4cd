#include "server/pool/queue_ledger.h"

#include <algorithm>

#include "proto/base/check.h"
#include "server/request/retry_info.h"

namespace mpsd {

void QueueLedger::Sum::Add(const Request& request, int sign) {
  requests += static_cast<uint32_t>(sign);
  bytes += static_cast<uint64_t>(sign) * request.queued_bytes;
  rows += static_cast<uint64_t>(sign) * request.rows;
}

void QueueLedger::Sum::Add(const Sum& other) {
  requests += other.requests;
  bytes += other.bytes;
  rows += other.rows;
}

bool QueueLedger::IsFull(const Request& request, uint64_t bytes) const {
  MPSD_CHECK(request.level < levels_.size());
  if (levels_[request.level].requests >= limits_.requests[request.level]) return true;
  if (HasItsShare(request)) return true;
  return bytes > limits_.bytes - std::min(limits_.bytes, all_.bytes);
}

// REQUIRES: the request's level is not full.
bool QueueLedger::HasItsShare(const Request& request) const {
  if (tenants_.size() <= 1 || request.tenant >= tenants_.size()) return false;
  const Tenant& tenant = tenants_[request.tenant];
  const uint32_t requests = tenant.levels[request.level].requests;
  const uint32_t left = limits_.requests[request.level] - levels_[request.level].requests;
  if (requests >= left) return true;
  return tenant.all.bytes > 0 &&
         tenant.all.bytes >= limits_.bytes - std::min(limits_.bytes, all_.bytes);
}

double QueueLedger::FullShare(const Request& request) const {
  MPSD_CHECK(request.level < levels_.size());
  const auto share = [](uint64_t taken, uint64_t limit) {
    return static_cast<double>(taken) / static_cast<double>(std::max<uint64_t>(limit, 1));
  };
  return std::max(share(levels_[request.level].requests, limits_.requests[request.level]),
                  share(all_.bytes, limits_.bytes));
}

absl::Status QueueLedger::FullError() const {
  return WithRetryAfter(absl::ResourceExhaustedError("Exceeds maximum queue size"),
                        rate_.RetryDelayNs(all_.requests));
}

void QueueLedger::Count(const Request& request, int sign) {
  if (request.tenant >= tenants_.size()) {
    tenants_.resize(request.tenant + 1, Tenant(levels_.size()));
  }
  Tenant& tenant = tenants_[request.tenant];
  Sum& of_tenant = tenant.levels[request.level];
  MPSD_CHECK(sign > 0 || (of_tenant.requests > 0 && tenant.all.bytes >= request.queued_bytes));
  for (Sum* sum : {&all_, &levels_[request.level], &tenant.all, &of_tenant}) {
    sum->Add(request, sign);
  }
}

uint64_t QueueLedger::RowsBefore(const Request& request) const {
  uint64_t rows = 0;
  for (uint32_t level = 0; level < request.level; ++level) rows += levels_[level].rows;
  if (tenants_.size() <= 1) return rows + levels_[request.level].rows;
  const bool is_known = request.tenant < tenants_.size();
  const uint64_t own_rows = is_known ? tenants_[request.tenant].levels[request.level].rows : 0;
  rows += own_rows;
  for (uint32_t tenant = 0; tenant < tenants_.size(); ++tenant) {
    if (tenant == request.tenant) continue;
    rows += std::min(tenants_[tenant].levels[request.level].rows, own_rows + request.rows);
  }
  return rows;
}

QueueLedger::Sum QueueLedger::CheckInvariants() const {
  Sum of_levels;
  for (size_t level = 0; level < levels_.size(); ++level) {
    Sum of_tenants;
    for (const Tenant& tenant : tenants_) of_tenants.Add(tenant.levels[level]);
    MPSD_CHECK(of_tenants == levels_[level]);
    of_levels.Add(of_tenants);
  }
  Sum of_tenants;
  for (const Tenant& tenant : tenants_) of_tenants.Add(tenant.all);
  MPSD_CHECK(of_levels == all_ && of_tenants == all_);
  return all_;
}

}  // namespace mpsd
