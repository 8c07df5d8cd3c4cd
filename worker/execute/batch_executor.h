// BatchExecutor: runs one batch on the model and writes the completion record.
#pragma once

#include <cstdint>

#include "proto/base/clock.h"
#include "proto/shm/layout.h"
#include "worker/execute/batch.h"
#include "worker/execute/gather.h"
#include "worker/model/model.h"

namespace mpsd {

// One a lane; lives on the lane's thread. The model is shared by all lanes and outlives them.
class BatchExecutor {
 public:
  BatchExecutor(uint32_t lane, Model* model, const Clock* clock)
      : lane_(lane), model_(model), clock_(clock) {}

  // Fills `record` whole: outcome, outputs, times. Returns when the outputs lie in the lease.
  void Execute(const Batch& batch, CompletionRecord* record);

 private:
  const uint32_t lane_;
  Model* const model_;
  const Clock* const clock_;
  Gather gather_;
};

// Runs zeros of the model's shapes through the lane, as `warmup` says: "none", "smallest" bucket
// and batch, or "all" buckets at the smallest and the largest batch; "auto" is smallest on the cpu,
// all elsewhere. Called on the lane's thread before its first batch.
absl::Status WarmUpLane(Model* model, uint32_t lane, absl::string_view warmup);

}  // namespace mpsd
