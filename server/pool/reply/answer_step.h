// AnswerStep: splits a completed batch into its requests' answers and sends them.
#pragma once

#include <memory>

#include "proto/base/clock.h"
#include "server/request/completed_batch.h"

namespace mpsd {

// Step 12 of a request, on the thread that drained the completion and outside every lock. It comes
// after CompletionIntake, which has checked each field of the batch, and hands each answer to its
// request's exchange through a Reply.
//
//   batch    | r1 r1 | hole | r2 |      one tensor of four rows, in the worker's lease
//   answers  r1: rows 0-1    r2: row 3  views of the same memory, not copied
//
// Counts the batch first, so that a client with an answer finds it in the statistics. Then each
// request gets:
//
//   the batch failed          the batch's failure
//   one of its rows failed    INTERNAL, with the worker's text
//   all is well               its own rows of the outputs that it wants
//
//   one answer of several     the same, as a part: the request goes on
//   no further answer         the end of a decoupled model's request
//
// A hole, an entry whose request has ended meanwhile, gets nothing. A batch that no lane has run,
// or that runs again with a larger lease, is not counted.
//
// An output whose length follows from a padded input is cut back to the client's own length, in a
// copy that lives until the answer was given. The transport then copies all outputs of the answer.
// Otherwise it may pin large outputs where they lie.
//
// If the model keeps answers, the answer to a request that missed the cache is copied before it is
// given.
//
// Knows neither workers nor transports. Owned by the daemon. Never blocks. Thread-safe: has no
// state but the clock.
class AnswerStep final : public CompletionSink {
 public:
  // `clock` outlives it.
  explicit AnswerStep(const Clock* clock) : clock_(clock) {}

  // Ends, or answers in part, every request of the batch before it returns. By then any of them may
  // already serve the next call. Does nothing for a batch without entries.
  void Complete(const CompletedBatch& batch) override;

 private:
  const Clock* const clock_;
};

// Copies `rows` rows of an output with a batch dim, from `first_row` on, and cuts dim `dim` (not
// counting the batch dim) to `length`:
//
//   [rows][outer][dim][inner]: of each dim's slices of `inner` elements the first `length` stay
//
// Sets `*bytes` to the size of the copy. REQUIRES: the output has the dim and the rows, and
// `length` is between 0 and the dim's length. Pure.
std::unique_ptr<char[]> CutRows(const BatchOutput& output, uint32_t first_row, uint32_t rows,
                                uint32_t dim, int64_t length, uint64_t* bytes);

}  // namespace mpsd
