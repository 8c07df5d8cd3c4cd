// InferenceStatistics: one model's counts and times for ModelStatistics.
//
// The protocol asks for sums and counts of one moment, so they stand under a mutex, apart from the
// atomics of ModelMetrics. The times follow a request through its life:
//
//   arrival ──queue──▶ batch ──input──▶ lane starts ──infer──▶ lane ends ──output──▶ answer
//      └───────────────────────────────── success ──────────────────────────────────────┘
#pragma once

#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace mpsd {

struct CountAndTime {
  uint64_t count = 0;
  uint64_t ns = 0;

  // A negative time, from another process's clock, counts as 0.
  void Add(uint64_t times, int64_t total_ns) {
    count += times;
    ns += total_ns < 0 ? 0 : static_cast<uint64_t>(total_ns);
  }
};

// A batch that a lane ran, or a further answer of a decoupled batch. The sums cover requests that
// got an answer. A decoupled request counts as answered with its last answer; the time of earlier
// answers is added then.
struct ExecutedBatch {
  uint32_t row_count = 0;
  int64_t input_ns = 0;     // from forming the batch to the lane's start
  int64_t infer_ns = 0;     // from the lane's start to its end
  int64_t output_ns = 0;    // from the lane's end to sending the answers
  int64_t ended_ms = 0;     // since the Unix epoch
  uint32_t executions = 1;  // 0: continues an execution that was counted

  uint64_t answered_requests = 0;
  uint64_t answered_rows = 0;
  int64_t queue_ns = 0;  // sum: from a request's arrival to its batch
  int64_t total_ns = 0;  // sum: from a request's arrival to its answer
  // Sums of the execution's earlier parts.
  int64_t earlier_input_ns = 0;
  int64_t earlier_infer_ns = 0;
  int64_t earlier_output_ns = 0;
};

// Part of ModelMetrics, so it continues from one generation of a model to the next. Thread-safe.
// The mutex is taken once a batch, once for a failed request, and at most twice more for a request
// if answers are kept. Memory grows with the largest batch so far, up to kMaxBatchRows + 1 entries.
class InferenceStatistics {
 public:
  struct BatchSize {
    CountAndTime compute_input;
    CountAndTime compute_infer;
    CountAndTime compute_output;
  };

  struct Totals {
    int64_t last_inference_ms = 0;  // since the Unix epoch; 0: none yet
    uint64_t inference_count = 0;   // rows that batches answered
    uint64_t execution_count = 0;   // batches that ran, failed ones included
    CountAndTime success;           // answered requests, from arrival to answer
    CountAndTime fail;              // admitted requests without an answer
    CountAndTime queue;             // answered requests
    CountAndTime compute_input;     // this and the next two: requests that a lane answered
    CountAndTime compute_infer;
    CountAndTime compute_output;
    CountAndTime cache_hit;                // requests that got a kept answer, and the look-up
    CountAndTime cache_miss;               // the look-up, and keeping the answer
    std::vector<BatchSize> by_batch_size;  // by rows
  };

  // Called before the batch's answers are sent: a client with an answer finds it counted. REQUIRES:
  // batch.row_count <= kMaxBatchRows.
  void AddBatch(const ExecutedBatch& batch) ABSL_LOCKS_EXCLUDED(mu_);

  // An admitted request ended without an answer, `total_ns` after it arrived.
  void AddFailure(int64_t total_ns) ABSL_LOCKS_EXCLUDED(mu_);

  // `wait_ns`: from the request's arrival to its kept answer. As in Triton, this counts no
  // inference and no execution.
  void AddCacheHit(int64_t wait_ns, int64_t lookup_ns) ABSL_LOCKS_EXCLUDED(mu_);

  void AddCacheMiss(int64_t lookup_ns) ABSL_LOCKS_EXCLUDED(mu_);
  void AddCacheCopy(int64_t copy_ns) ABSL_LOCKS_EXCLUDED(mu_);

  Totals Read() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  mutable absl::Mutex mu_;
  Totals totals_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
