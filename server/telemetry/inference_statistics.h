// InferenceStatistics: the counts and times of one model that ModelStatistics reports.
//
// The protocol asks for sums and counts that belong together: an average taken from them must not
// mix two moments. So they stand under a mutex, apart from the atomics of ModelMetrics, of which
// each is right for itself only. The times follow a request through its life:
//
//   arrival ──queue──▶ batch ──input──▶ lane starts ──infer──▶ lane ends ──output──▶ answer
//      └───────────────────────────────── success ──────────────────────────────────────┘
#pragma once

#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace mpsd {

// How often something happened, and how long it took in sum.
struct CountAndTime {
  uint64_t count = 0;
  uint64_t ns = 0;

  // A negative time, which a clock of another process can cause, counts as 0.
  void Add(uint64_t times, int64_t total_ns) {
    count += times;
    ns += total_ns < 0 ? 0 : static_cast<uint64_t>(total_ns);
  }
};

// A batch that a lane ran, or a further answer of a decoupled batch. Filled by AnswerStep. The sums
// are over the requests that got an answer: a batch may have rows that failed, and requests that
// ended before it came back. A decoupled request is answered when its last answer has come; what
// its earlier answers took is added then.
struct ExecutedBatch {
  uint32_t row_count = 0;
  int64_t input_ns = 0;     // from forming the batch to the start of the lane
  int64_t infer_ns = 0;     // from the start of the lane to its end
  int64_t output_ns = 0;    // from the end of the lane to sending the answers
  int64_t ended_ms = 0;     // since the Unix epoch
  uint32_t executions = 1;  // 0: continues an execution that was counted

  uint64_t answered_requests = 0;
  uint64_t answered_rows = 0;
  int64_t queue_ns = 0;  // sum: from the arrival of a request to its batch
  int64_t total_ns = 0;  // sum: from the arrival of a request to its answer
  // Sums of the earlier parts of the same execution.
  int64_t earlier_input_ns = 0;
  int64_t earlier_infer_ns = 0;
  int64_t earlier_output_ns = 0;
};

// Part of ModelMetrics, so it goes on from one generation of a model to the next. Thread-safe.
// AddBatch() is called once for each batch, before its answers are sent: a client that has an
// answer finds it counted. Read() returns figures of one moment, for ModelStatistics and for
// TritonFamilies().
//
// The mutex is taken once a batch, once for a request that fails, and where answers are kept at
// most twice more for a request, and held for some twenty additions; Read() holds it for a copy of
// at most kMaxBatchRows + 1 entries. Memory grows with the largest batch so far, up to that.
class InferenceStatistics {
 public:
  // The executions of one batch size.
  struct BatchSize {
    CountAndTime compute_input;
    CountAndTime compute_infer;
    CountAndTime compute_output;
  };

  struct Totals {
    int64_t last_inference_ms = 0;  // since the Unix epoch; 0: none yet
    uint64_t inference_count = 0;   // rows that batches answered
    uint64_t execution_count = 0;   // batches that ran, with those that failed
    CountAndTime success;           // answered requests, from arrival to answer
    CountAndTime fail;              // admitted requests that ended without an answer
    CountAndTime queue;             // of answered requests
    CountAndTime compute_input;     // this and the next two: of those that a lane has answered
    CountAndTime compute_infer;
    CountAndTime compute_output;
    CountAndTime cache_hit;   // requests that were given a kept answer, and the look-up
    CountAndTime cache_miss;  // those for which none was kept; the look-up, and keeping theirs
    std::vector<BatchSize> by_batch_size;  // [i] has the batches of i rows
  };

  // Counts a batch that was executed, with or without success. Called on the thread that took the
  // completion. REQUIRES: batch.row_count <= kMaxBatchRows.
  void AddBatch(const ExecutedBatch& batch) ABSL_LOCKS_EXCLUDED(mu_);

  // An admitted request ended without an answer, `total_ns` after it arrived. Requests that were
  // refused are not counted here.
  void AddFailure(int64_t total_ns) ABSL_LOCKS_EXCLUDED(mu_);

  // A request is given a kept answer, which was found in `lookup_ns`, `wait_ns` after the request
  // arrived. Counts no inference and no execution, as Triton.
  void AddCacheHit(int64_t wait_ns, int64_t lookup_ns) ABSL_LOCKS_EXCLUDED(mu_);

  // No answer was found for a request in `lookup_ns`; its own was copied in `copy_ns`.
  void AddCacheMiss(int64_t lookup_ns) ABSL_LOCKS_EXCLUDED(mu_);
  void AddCacheCopy(int64_t copy_ns) ABSL_LOCKS_EXCLUDED(mu_);

  Totals Read() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  mutable absl::Mutex mu_;
  Totals totals_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
