#include "server/access/rate_table.h"

#include <algorithm>
#include <cmath>

#include "proto/base/clock.h"

namespace mpsd {

void RateTable::SetRates(const std::vector<RowRate>& rates) {
  std::vector<Bucket> buckets;
  bool any = false;
  for (const RowRate& rate : rates) {
    buckets.push_back({rate, static_cast<double>(rate.burst_rows), 0});
    any = any || rate.rows_per_second > 0;
  }
  absl::MutexLock lock(&mu_);
  buckets_.swap(buckets);
  any_.store(any, std::memory_order_relaxed);
}

int64_t RateTable::TakeOf(uint32_t tenant, uint32_t rows, int64_t now_ns) {
  absl::MutexLock lock(&mu_);
  if (tenant >= buckets_.size() || buckets_[tenant].rate.rows_per_second == 0) return 0;
  Bucket& bucket = buckets_[tenant];
  const double row_ns = static_cast<double>(kNsPerSecond) / bucket.rate.rows_per_second;
  const int64_t passed_ns = std::max<int64_t>(0, now_ns - bucket.filled_ns);
  bucket.rows = std::min<double>(bucket.rate.burst_rows,
                                 bucket.rows + static_cast<double>(passed_ns) / row_ns);
  bucket.filled_ns = std::max(bucket.filled_ns, now_ns);
  // A row that is nearly there counts: the rest is rounding.
  if (bucket.rows < 1 - 1e-6) return static_cast<int64_t>(std::ceil((1 - bucket.rows) * row_ns));
  bucket.rows -= rows;
  return 0;
}

}  // namespace mpsd
