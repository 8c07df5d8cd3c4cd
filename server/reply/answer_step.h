// AnswerStep: splits a completed batch into its requests' answers and gives them.
#pragma once

#include <memory>

#include "proto/base/clock.h"
#include "server/request/completed_batch.h"

namespace mpsd {

// Step 12 of a request, on the thread that drained the completion and outside every lock. Between
// CompletionIntake, which has checked each field of the batch, and the exchange of each request,
// which a Reply leads to.
//
//   batch    | r1 r1 | hole | r2 |      one tensor of four rows, in the worker's lease
//   answers  r1: rows 0-1    r2: row 3  views of the same memory, not copied
//
// Counts the batch, then gives each request its answer. Counts come first: a client that has its
// answer finds it in the statistics. What a request gets:
//
//   the batch failed          its failure, which is the status of every request in it
//   one of its rows failed    INTERNAL, with the worker's text; the others get their answers
//   all is well               the outputs that it wants, its own rows of them
//   one answer of several     the same, as a part: the request goes on
//   no further answer         the end of a decoupled model's request
//
// A hole, which is an entry whose request has ended meanwhile, gets nothing. A batch that no lane
// has run, and one that runs again with a larger lease, counts as no execution. All answers to one
// request of a decoupled model count as one execution.
//
// An output whose length follows from a padded input is cut back to the length that the client
// sent. That needs a copy, which lives until the answer was given. The transport then copies all
// outputs of the answer; otherwise it may pin those that are large where they lie.
//
// Where the model keeps answers, that of a request which was not found there is copied before it is
// given.
//
// Knows neither workers nor transports. Owned by the daemon. Never blocks. Thread-safe: has no
// state but the clock.
class AnswerStep final : public CompletionSink {
 public:
  // `clock` outlives it.
  explicit AnswerStep(const Clock* clock) : clock_(clock) {}

  // Ends, or answers in part, every request of the batch before it returns. Any of them may be in
  // use for the next call by then. A batch without entries is nothing.
  void Complete(const CompletedBatch& batch) override;

 private:
  const Clock* const clock_;
};

// Copies `rows` rows of an output with a batch dim, from `first_row` on, and cuts dim `dim` (the
// batch dim not counted) to `length`:
//
//   [rows][outer][dim][inner]: of each dim's slices of `inner` elements the first `length` stay
//
// Sets `*bytes` to the size of the copy. REQUIRES: the output has the dim, `length` is not above it
// and not negative, and the output has the rows. Pure.
std::unique_ptr<char[]> CutRows(const BatchOutput& output, uint32_t first_row, uint32_t rows,
                                uint32_t dim, int64_t length, uint64_t* bytes);

}  // namespace mpsd
