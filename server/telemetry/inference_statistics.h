// InferenceStatistics: the exact counts and times of one model, as ModelStatistics tells them.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace mpsd {

// How often, and for how long together.
struct CountAndTime {
  uint64_t count = 0;
  uint64_t ns = 0;

  void Add(uint64_t times, int64_t total_ns) {
    count += times;
    ns += total_ns < 0 ? 0 : static_cast<uint64_t>(total_ns);
  }
};

// A batch that a lane ran. The sums are over its requests that got an answer.
struct ExecutedBatch {
  uint32_t row_count = 0;
  int64_t input_ns = 0;     // the batch was formed → the lane has begun
  int64_t infer_ns = 0;     // the lane has begun → the lane is done
  int64_t output_ns = 0;    // the lane is done → the answers are on their way
  int64_t ended_ms = 0;     // since the epoch
  uint32_t executions = 1;  // 0: it goes on with one that was counted

  uint64_t answered_requests = 0;
  uint64_t answered_rows = 0;
  int64_t queue_ns = 0;  // sum: a request arrived → it was in the batch
  int64_t total_ns = 0;  // sum: a request arrived → its answer is on its way
  // Sums of what went before in the same execution.
  int64_t earlier_input_ns = 0;
  int64_t earlier_infer_ns = 0;
  int64_t earlier_output_ns = 0;
};

// Thread-safe. Written once a batch, before its answers are sent: whoever has an answer finds it
// counted. Reading gives numbers that belong together.
class InferenceStatistics {
 public:
  // Executions of one batch size.
  struct BatchSize {
    CountAndTime compute_input;
    CountAndTime compute_infer;
    CountAndTime compute_output;
  };

  struct Totals {
    int64_t last_inference_ms = 0;  // since the epoch; 0: none yet
    uint64_t inference_count = 0;   // rows that were answered
    uint64_t execution_count = 0;   // batches that ran, those that failed included
    CountAndTime success;
    CountAndTime fail;
    CountAndTime queue;
    CountAndTime compute_input;
    CountAndTime compute_infer;
    CountAndTime compute_output;
    std::vector<BatchSize> by_batch_size;  // [i]: batches of i rows
  };

  void AddBatch(const ExecutedBatch& batch) ABSL_LOCKS_EXCLUDED(mu_);

  // A request that was admitted ended otherwise than with an answer, `total_ns` after it arrived.
  void AddFailure(int64_t total_ns) ABSL_LOCKS_EXCLUDED(mu_);

  Totals Read() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  mutable absl::Mutex mu_;
  Totals totals_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
