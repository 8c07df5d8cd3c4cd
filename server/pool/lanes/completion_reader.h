// ReadCompletion: copies a completion record out of a worker's memory and checks each field.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/link/model_spec.h"
#include "proto/shm/layout.h"
#include "server/request/completed_batch.h"

namespace mpsd {

// The front end's own facts about the batch. A value.
struct ExpectedCompletion {
  uint64_t batch_id = 0;
  uint32_t row_count = 0;
  uint32_t answer_index = 0;  // below kMaxAnswers
  uint64_t lease_bytes = 0;
  const char* lease_data = nullptr;  // mapped read-only
  int64_t batched_ns = 0;            // earliest credible time from the worker
  int64_t now_ns = 0;                // latest credible time from the worker
};

// Step 11 of a request, worker → front end. A worker's memory is hostile and may change between two
// looks. So each field is copied once, and only the copy is checked and used. tests/fuzz changes
// the memory between any two loads to prove that.
//
// Each output has the spec's datatype, and allowed dims that multiply to its bytes. It lies in the
// lease, aligned. A BYTES output is whole strings; the end of each row is recorded.
//
// Outcomes, and their effect on `batch`:
//
//   kDone             outputs, row_failed; the model is not decoupled
//   kAnswer           the same for a decoupled model; a part, unless it failed
//   kNoAnswer         the end of a decoupled model's answers
//
//   kFailed           failure: INTERNAL, with the worker's text
//   kSkipped          failure: DEADLINE_EXCEEDED
//   kOutputTooLarge   needed_bytes, which is more than the lease has
//   any other         a lie
//
// Outputs of `batch` point into the lease. `needed_bytes` is 0 unless the worker asks for a larger
// lease. INVALID_ARGUMENT names the field that cannot be true. The caller must then have the worker
// killed, and not use `batch`, which was checked only in part. Thread-safe.
absl::Status ReadCompletion(const CompletionRecord& record, const ExpectedCompletion& expected,
                            const ModelSpec& spec, CompletedBatch* batch, uint64_t* needed_bytes);

}  // namespace mpsd
