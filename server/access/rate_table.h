// RateTable: how many rows each tenant may ask for now.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/access/row_rate.h"

namespace mpsd {

// A tenant's bucket fills up to its burst. A request passes while a row is left, whatever its own
// rows, and the bucket may then owe some.
//
// Owned by the Gate, used by Admission. Reads no clock. Thread-safe. A request costs one load while
// no tenant has a rate.
class RateTable {
 public:
  // By the tenants' numbers; those beyond have none. Refills all buckets.
  void SetRates(const std::vector<RowRate>& rates) ABSL_LOCKS_EXCLUDED(mu_);

  // Returns 0, or takes nothing and returns the time until a request passes. `now_ns` is monotonic.
  int64_t Take(uint32_t tenant, uint32_t rows, int64_t now_ns) ABSL_LOCKS_EXCLUDED(mu_) {
    return any_.load(std::memory_order_relaxed) ? TakeOf(tenant, rows, now_ns) : 0;
  }

 private:
  // Full until it is first used.
  struct Bucket {
    RowRate rate;
    double rows = 0;
    int64_t filled_ns = 0;  // when `rows` was right
  };

  int64_t TakeOf(uint32_t tenant, uint32_t rows, int64_t now_ns) ABSL_LOCKS_EXCLUDED(mu_);

  std::atomic<bool> any_{false};
  absl::Mutex mu_;
  std::vector<Bucket> buckets_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
