#include "server/compose/sequences/waiting_ledger.h"

#include <algorithm>

#include "proto/base/check.h"

namespace mpsd {

void WaitingLedger::Sum::Add(const Entry& entry, int sign) {
  requests += static_cast<uint32_t>(sign);
  bytes += static_cast<uint64_t>(sign) * entry.bytes;
  if (!entry.has_lane) without_lane += static_cast<uint32_t>(sign);
}

WaitingLedger::Sum WaitingLedger::Of(uint32_t tenant) const {
  const auto found = tenants_.find(tenant);
  return found == tenants_.end() ? Sum() : found->second;
}

bool WaitingLedger::HasRoom(const Entry& entry) const {
  if (all_.requests >= limits_.requests) return false;
  const uint64_t bytes_left = limits_.bytes - std::min(limits_.bytes, all_.bytes);
  if (entry.bytes > bytes_left) return false;
  if (!entry.has_lane && all_.without_lane >= most_without_lane()) return false;
  if (entry.tenant == 0) return true;
  const Sum own = Of(entry.tenant);
  if (own.requests >= limits_.requests - all_.requests) return false;
  if (own.bytes > 0 && own.bytes >= bytes_left) return false;
  return entry.has_lane || own.without_lane < most_without_lane() - all_.without_lane;
}

void WaitingLedger::Add(const Entry& entry) {
  all_.Add(entry, 1);
  tenants_[entry.tenant].Add(entry, 1);
}

void WaitingLedger::Remove(const Entry& entry) {
  const auto found = tenants_.find(entry.tenant);
  MPSD_CHECK(found != tenants_.end() && found->second.bytes >= entry.bytes);
  MPSD_CHECK(entry.has_lane || found->second.without_lane > 0);
  all_.Add(entry, -1);
  found->second.Add(entry, -1);
  if (found->second.requests == 0) tenants_.erase(found);
}

void WaitingLedger::HaveLane(uint32_t tenant, uint32_t count) {
  const auto found = tenants_.find(tenant);
  MPSD_CHECK(found != tenants_.end() && found->second.without_lane >= count);
  found->second.without_lane -= count;
  all_.without_lane -= count;
}

}  // namespace mpsd
