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

// Step 9 of a request's path. Owned by the lane, one for each lane; lives on the lane's thread. The
// model is shared by all lanes and outlives them.
//
// When the run of a batch fails, the executor runs it again in halves, and failing halves in
// halves, so only the rows that make the model throw fail. One batch costs at most kMaxPartRuns
// such runs. Once a part has failed, no run begins after the batch's `live_until_ns`. After the
// second out-of-memory error, the lane runs larger batches in parts of at most half that size from
// the start. A decoupled model is asked once, for the answer that the batch names.
//
// Never publishes anything, never waits for the front end, and writes only to the lease and the
// record.
class BatchExecutor {
 public:
  BatchExecutor(uint32_t lane, Model* model, const Clock* clock)
      : lane_(lane), model_(model), clock_(clock), row_buckets_(lane, model), tokens_(model) {}

  // Runs the batch and fills all of `record`. Blocks until the model has returned and the outputs
  // lie in the lease. Never fails itself: a failure is an outcome.
  void Execute(const Batch& batch, CompletionRecord* record);

  // True once the device no longer answers this process. The process must then end.
  bool device_lost() const { return device_lost_; }

  // The most rows that the lane still runs together after memory ran out; 0: no bound.
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
