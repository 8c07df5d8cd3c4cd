// AnswerStep: splits a completed batch into its requests' answers and sends them.
#pragma once

#include <memory>

#include "proto/base/clock.h"
#include "server/request/completed_batch.h"

namespace mpsd {

// Step 12 of a request, on the thread that drained the completion and outside every lock. Owned by
// the daemon. Never blocks. Thread-safe: has no state but the clock.
//
//   batch    | r1 r1 | hole | r2 |      one tensor of four rows, in the worker's lease
//   answers  r1: rows 0-1    r2: row 3  views of the same memory, not copied
//
// Each request gets:
//
//   the batch failed          the batch's failure
//   one of its rows failed    INTERNAL, with the worker's text
//   all is well               its own rows of the outputs that it wants
//
//   one answer of several     the same, as a part: the request goes on
//   no further answer         the end of a decoupled model's request
//
// A hole, an entry whose request has ended meanwhile, gets nothing. An output whose length follows
// from a padded input is cut back in a copy, and the transport then copies all outputs. Otherwise
// it may pin large ones. An answer that the model keeps is copied before it is given.
class AnswerStep final : public CompletionSink {
 public:
  explicit AnswerStep(const Clock* clock) : clock_(clock) {}

  // When it returns, any request of the batch may already serve the next call.
  void Complete(const CompletedBatch& batch) override;

 private:
  const Clock* const clock_;
};

// Copies rows of an output with a batch dim, and cuts dim `dim` (not counting the batch dim):
//
//   [rows][outer][dim][inner]: of each dim's slices of `inner` elements the first `length` stay
//
// Sets `*bytes` to the size of the copy. REQUIRES: the output has the dim and the rows, and
// `length` is between 0 and the dim's length. Pure.
std::unique_ptr<char[]> CutRows(const BatchOutput& output, uint32_t first_row, uint32_t rows,
                                uint32_t dim, int64_t length, uint64_t* bytes);

}  // namespace mpsd
