#include "server/wire/pin_ledger.h"

#include "absl/hash/hash.h"
#include "proto/base/check.h"
#include "proto/base/limits.h"

namespace mpsd {

bool PinLedger::Account::TryPin(uint64_t bytes, uint64_t limit_bytes, int64_t now_ns) {
  const uint64_t before = pinned_bytes_.fetch_add(bytes, std::memory_order_acq_rel);
  const int64_t since_ns = progress_ns_.load(std::memory_order_relaxed);
  const bool slow = before > 0 && now_ns - since_ns > kSlowReaderNs;
  if (slow || before + bytes > limit_bytes) {
    pinned_bytes_.fetch_sub(bytes, std::memory_order_acq_rel);
    return false;
  }
  if (before == 0) progress_ns_.store(now_ns, std::memory_order_relaxed);
  return true;
}

void PinLedger::Account::Unpin(uint64_t bytes, int64_t now_ns) {
  progress_ns_.store(now_ns, std::memory_order_relaxed);
  MPSD_CHECK(pinned_bytes_.fetch_sub(bytes, std::memory_order_acq_rel) >= bytes);
}

PinLedger::Account* PinLedger::Of(absl::string_view peer) {
  return &accounts_[absl::Hash<absl::string_view>()(peer) % kAccounts];
}

}  // namespace mpsd
