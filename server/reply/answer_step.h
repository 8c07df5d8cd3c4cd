// AnswerStep: splits a completed batch into its requests' answers and gives them.
#pragma once

#include <memory>

#include "proto/base/clock.h"
#include "server/request/completed_batch.h"

namespace mpsd {

// Step 12 of a request, on the thread that drained the completion and outside every lock. Cuts
// padded outputs back, counts the batch, then gives each request its answer. Counts come first: a
// client that has its answer finds it in the statistics. Knows neither workers nor transports.
// Owned by the daemon. Never blocks. Thread-safe: has no state but the clock.
class AnswerStep final : public CompletionSink {
 public:
  explicit AnswerStep(const Clock* clock) : clock_(clock) {}

  void Complete(const CompletedBatch& batch) override;

 private:
  const Clock* const clock_;
};

// Copies `rows` rows of an output with a batch dim, from `first_row` on, and cuts dim `dim` (the
// batch dim not counted) to `length`. Sets `*bytes` to the size of the copy. REQUIRES: the output
// has the dim, and `length` is not above it. Pure.
std::unique_ptr<char[]> CutRows(const BatchOutput& output, uint32_t first_row, uint32_t rows,
                                uint32_t dim, int64_t length, uint64_t* bytes);

}  // namespace mpsd
