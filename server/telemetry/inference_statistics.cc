#include "server/telemetry/inference_statistics.h"

#include <algorithm>

#include "proto/base/check.h"
#include "proto/base/limits.h"

namespace mpsd {

void InferenceStatistics::AddBatch(const ExecutedBatch& batch) {
  MPSD_CHECK(batch.row_count <= kMaxBatchRows);
  const uint64_t requests = batch.answered_requests;
  const auto times = static_cast<int64_t>(requests);
  absl::MutexLock lock(&mu_);
  totals_.last_inference_ms = std::max(totals_.last_inference_ms, batch.ended_ms);
  totals_.inference_count += batch.answered_rows;
  totals_.execution_count += batch.executions;
  totals_.success.Add(requests, batch.total_ns);
  totals_.queue.Add(requests, batch.queue_ns);
  totals_.compute_input.Add(requests, batch.input_ns * times + batch.earlier_input_ns);
  totals_.compute_infer.Add(requests, batch.infer_ns * times + batch.earlier_infer_ns);
  totals_.compute_output.Add(requests, batch.output_ns * times + batch.earlier_output_ns);
  if (totals_.by_batch_size.size() <= batch.row_count) {
    totals_.by_batch_size.resize(batch.row_count + 1);
  }
  BatchSize& size = totals_.by_batch_size[batch.row_count];
  size.compute_input.Add(batch.executions, batch.input_ns);
  size.compute_infer.Add(batch.executions, batch.infer_ns);
  size.compute_output.Add(batch.executions, batch.output_ns);
}

void InferenceStatistics::AddFailure(int64_t total_ns) {
  absl::MutexLock lock(&mu_);
  totals_.fail.Add(1, total_ns);
}

void InferenceStatistics::AddCacheHit(int64_t wait_ns, int64_t lookup_ns) {
  absl::MutexLock lock(&mu_);
  totals_.success.Add(1, wait_ns + lookup_ns);
  totals_.queue.Add(1, wait_ns);
  totals_.cache_hit.Add(1, lookup_ns);
}

void InferenceStatistics::AddCacheMiss(int64_t lookup_ns) {
  absl::MutexLock lock(&mu_);
  totals_.cache_miss.Add(1, lookup_ns);
}

void InferenceStatistics::AddCacheCopy(int64_t copy_ns) {
  absl::MutexLock lock(&mu_);
  totals_.cache_miss.Add(0, copy_ns);
}

InferenceStatistics::Totals InferenceStatistics::Read() const {
  absl::MutexLock lock(&mu_);
  return totals_;
}

}  // namespace mpsd
