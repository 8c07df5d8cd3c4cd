// ReadCompletion: takes a completion record out of a worker's memory and checks each field.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/link/model_spec.h"
#include "proto/shm/layout.h"
#include "server/request/completed_batch.h"

namespace mpsd {

// What the front end itself knows of the batch: a completion that differs is a lie. A value.
struct ExpectedCompletion {
  uint64_t batch_id = 0;
  uint32_t row_count = 0;
  uint32_t answer_index = 0;         // of a decoupled model; kMaxAnswers answers at most
  uint64_t lease_bytes = 0;          // outputs lie inside the lease,
  const char* lease_data = nullptr;  // which is mapped here, read-only
  int64_t batched_ns = 0;            // no time of the worker's is before this,
  int64_t now_ns = 0;                // and none after
};

// Step 11 of a request's life, worker → front end. A worker's memory is hostile: another process
// may change it between two looks. So each field is copied once, the copy is checked, and the
// memory is not looked at again; tests/fuzz changes it between any two loads to prove that.
//
// Checked: the batch's id and row count; that the outcome is one there is; that there are as many
// outputs as in the spec, each with the spec's datatype, dims that the spec allows and that
// multiply to its bytes; that it lies in the lease, aligned; that a BYTES output is whole strings,
// whose ends are noted now. Texts are cut to kErrorTextBytes and made printable. Sizes are
// multiplied with overflow checks.
//
// CompletionIntake calls it for each completion, under the pool's mutex; AnswerStep gets `batch`
// afterwards, without it. The cost does not depend on the sizes of the outputs, but for BYTES,
// whose elements are walked.
//
// An outcome, and what the batch becomes of it:
//   kDone             outputs, row_failed     of a model that is not decoupled
//   kAnswer           the same                of a decoupled model; a part, unless it failed
//   kNoAnswer         the end of the answers  of a decoupled model
//   kFailed           failure: INTERNAL, with the worker's text
//   kSkipped          failure: DEADLINE_EXCEEDED
//   kOutputTooLarge   needed_bytes, which is more than the lease has
//   any other         a lie
//
// The worker's two times are no reason to kill it: they are moved into the time between batched_ns
// and now_ns, in their order. Nor are its counts of tokens, which metrics alone show: they are cut
// to kMaxCountedTokens, and the padding to all.
//
// Fills outputs, row_failed, failure, part, tokens, times of `batch`, whose outputs point into the
// lease: the answer's bytes are not copied here. Sets `needed_bytes` to the lease that the worker
// asks for, or to 0. INVALID_ARGUMENT, with a text that names the lie, when a field cannot be true:
// the caller has the worker killed, and must not use what `batch` holds by then, which was checked
// only in part. Thread-safe.
absl::Status ReadCompletion(const CompletionRecord& record, const ExpectedCompletion& expected,
                            const ModelSpec& spec, CompletedBatch* batch, uint64_t* needed_bytes);

}  // namespace mpsd
