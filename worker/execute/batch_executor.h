// BatchExecutor: runs one batch on the model and writes the completion record.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/base/clock.h"
#include "proto/shm/layout.h"
#include "worker/execute/batch.h"
#include "worker/execute/gather.h"
#include "worker/execute/lease_sink.h"
#include "worker/execute/part_sink.h"
#include "worker/execute/row_buckets.h"
#include "worker/execute/split_policy.h"
#include "worker/execute/token_counter.h"
#include "worker/model/model.h"

namespace mpsd {

// Owned by the lane; lives on the lane's thread. All lanes share the model, which outlives them.
//
// A failed batch runs again in halves, and failing halves in halves, so only the bad rows fail.
// That costs at most kMaxPartRuns runs. Once a part has failed, none begins after `live_until_ns`.
// After the second out-of-memory error, the lane runs larger batches in parts of at most half that
// size from the start; each of these parts has its run (MostPartRuns).
//
// Writes only to the lease and the record.
class BatchExecutor {
 public:
  BatchExecutor(uint32_t lane, Model* model, const Clock* clock)
      : lane_(lane), model_(model), clock_(clock), row_buckets_(lane, model), tokens_(model) {}

  // Fills all of `record`: a failure is an outcome. Blocks until the outputs lie in the lease.
  void Execute(const Batch& batch, CompletionRecord* record);

  // The device no longer answers this process, which must end.
  bool device_lost() const { return device_lost_; }

  // The most rows that run together after memory ran out; 0: no bound.
  uint32_t row_cap() const { return row_cap_; }

 private:
  void NoteTokens(const Batch& batch, CompletionRecord* record) const;
  absl::StatusOr<bool> Answer(const Batch& batch, LeaseSink* sink);
  absl::Status RunWhole(const Batch& batch, CompletionRecord* record, LeaseSink* sink);
  absl::Status RunParts(const Batch& batch, std::vector<BatchPart> parts, OutputSink* sink);
  absl::Status RunPart(absl::Span<const InputTensor> inputs, uint32_t row_count,
                       const BatchPart& part, PartSink* sink);
  void Note(const absl::Status& status, uint32_t row_count);

  const uint32_t lane_;
  Model* const model_;
  const Clock* const clock_;
  Gather gather_;
  RowBuckets row_buckets_;
  const TokenCounter tokens_;
  uint32_t memory_failures_ = 0;
  uint32_t row_cap_ = 0;
  bool device_lost_ = false;
};

}  // namespace mpsd
