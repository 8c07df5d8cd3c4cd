// AnswerStep: splits a completed batch into its requests' answers.
#pragma once

#include <memory>

#include "proto/base/clock.h"
#include "server/request/completed_batch.h"

namespace mpsd {

// Thread-safe: no state but the clock. Called outside every lock.
class AnswerStep final : public CompletionSink {
 public:
  explicit AnswerStep(const Clock* clock) : clock_(clock) {}

  void Complete(const CompletedBatch& batch) override;

 private:
  const Clock* const clock_;
};

// The bytes of `rows` rows of an output with a batch dim, from `first_row` on, with dim `dim` (the
// batch dim not counted) cut from what it has to `length`. Pure.
std::unique_ptr<char[]> CutRows(const BatchOutput& output, uint32_t first_row, uint32_t rows,
                                uint32_t dim, int64_t length, uint64_t* bytes);

}  // namespace mpsd
