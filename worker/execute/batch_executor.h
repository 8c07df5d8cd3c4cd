// BatchExecutor: runs one batch on the model and writes the completion record.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/base/clock.h"
#include "proto/link/warm_up.h"
#include "proto/shm/layout.h"
#include "worker/execute/batch.h"
#include "worker/execute/gather.h"
#include "worker/execute/lease_sink.h"
#include "worker/execute/part_sink.h"
#include "worker/execute/split_policy.h"
#include "worker/model/model.h"

namespace mpsd {

// One a lane; lives on the lane's thread. The model is shared by all lanes and outlives them.
//
// A batch whose run fails is run again in halves, and these in halves, so that only the rows fail
// for which the model throws; the number of runs is bounded, and nobody's deadline is outrun. After
// the second error for lack of memory the lane takes batches in parts of half the size at once. A
// decoupled model is asked for the one answer that the batch names.
class BatchExecutor {
 public:
  BatchExecutor(uint32_t lane, Model* model, const Clock* clock)
      : lane_(lane), model_(model), clock_(clock) {}

  // Fills `record` whole: outcome, outputs, times. Returns when the outputs lie in the lease.
  void Execute(const Batch& batch, CompletionRecord* record);

  // True once the device answers nothing more to this process, which can only be started anew.
  bool device_lost() const { return device_lost_; }

  // Rows that the lane runs together at most, since memory did not suffice for more; 0: no bound.
  uint32_t row_cap() const { return row_cap_; }

 private:
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
  uint32_t memory_failures_ = 0;
  uint32_t row_cap_ = 0;
  bool device_lost_ = false;
};

// Runs zeros of the model's shapes through the lane, as `warmup` says. Called on the lane's thread
// before its first batch.
absl::Status WarmUpLane(Model* model, uint32_t lane, WarmUp warmup);

}  // namespace mpsd
