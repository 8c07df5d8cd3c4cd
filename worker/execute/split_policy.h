// split_policy: when a failed batch is run again in parts, and in which parts. Pure.
//
// One bad row makes the run of its whole batch fail, and with it requests that have nothing to do
// with that row. Halving finds the row. With 8 rows, row 5 bad, the runs are
//
//   {0..7} fails    {0..3} ok    {4..7} fails    {4,5} fails    {4} ok    {5} fails    {6,7} ok
//
// and one row fails instead of eight. Halving also makes a batch small enough for the available
// memory. BatchExecutor keeps the list of parts to run and carries the decisions out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "worker/execute/batch.h"

namespace mpsd {

// Consecutive rows of a batch that run together.
struct BatchPart {
  uint32_t first_row = 0;
  uint32_t row_count = 0;
};

// The most runs of parts that one failed batch may cost. This is enough to find one bad row in the
// largest batch, or to run each row of a small batch alone.
inline constexpr uint32_t kMaxPartRuns = 64;

// After this many out-of-memory errors a lane runs large batches in parts from the start.
inline constexpr uint32_t kMemoryFailures = 2;

// Whether fewer rows may succeed. A model may have thrown because of one row, and memory may
// suffice for fewer rows. But an answer that contradicts the spec does so for any rows, and a lost
// device stays lost.
inline bool MayHelpToSplit(const absl::Status& status) {
  return absl::IsInternal(status) || absl::IsResourceExhausted(status);
}

// Whether the outputs of parts can be joined: all rows of each input must have one size. Outputs of
// BYTES cannot be joined either; PartSink refuses them.
inline bool CanSplit(const Batch& batch) {
  const auto is_bytes = [](const BatchInput& input) { return input.datatype == DataType::kBytes; };
  return batch.has_batch_dim && batch.row_count > 1 &&
         std::none_of(batch.inputs.begin(), batch.inputs.end(), is_bytes);
}

// The two halves of a part of at least two rows. The first half comes last in the list, because the
// executor takes parts from the end.
inline std::vector<BatchPart> Halves(const BatchPart& part) {
  const uint32_t half = part.row_count / 2;
  return {{part.first_row + half, part.row_count - half}, {part.first_row, half}};
}

// Splits a batch into parts of at most `rows` rows. The first part comes last in the list.
inline std::vector<BatchPart> Chunks(uint32_t row_count, uint32_t rows) {
  std::vector<BatchPart> parts;
  for (uint32_t first = 0; first < row_count; first += rows) {
    parts.push_back({first, std::min(rows, row_count - first)});
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

}  // namespace mpsd
