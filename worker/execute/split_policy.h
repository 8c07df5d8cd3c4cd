// split_policy: when a failed batch is run again in parts, and in which parts. Pure.
//
// One bad row makes the whole batch fail; halving finds the row. With 8 rows and row 5 bad:
//
//   {0..7} fails    {0..3} ok    {4..7} fails    {4,5} fails    {4} ok    {5} fails    {6,7} ok
//
// Halving also makes a batch fit into the available memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "worker/execute/batch.h"

namespace mpsd {

struct BatchPart {
  uint32_t first_row = 0;
  uint32_t row_count = 0;
};

// The most runs of parts for one batch in halves: enough to find one bad row in the largest batch,
// or to run each row of a small batch alone.
inline constexpr uint32_t kMaxPartRuns = 64;

// The same for a batch that begins in so many parts. Each of them runs, although memory suffices
// for one row only, and one may fail.
inline size_t MostPartRuns(size_t parts) { return std::max<size_t>(kMaxPartRuns, 2 * parts); }

// After this many out-of-memory errors a lane runs large batches in parts from the start.
inline constexpr uint32_t kMemoryFailures = 2;

// Whether fewer rows may succeed. An answer that contradicts the spec does so for any rows, and a
// lost device stays lost.
inline bool MayHelpToSplit(const absl::Status& status) {
  return absl::IsInternal(status) || absl::IsResourceExhausted(status);
}

// Whether outputs of parts can be joined: all rows of each input need one size. PartSink refuses
// outputs of BYTES.
inline bool CanSplit(const Batch& batch) {
  const auto is_bytes = [](const BatchInput& input) { return input.datatype == DataType::kBytes; };
  return batch.has_batch_dim && batch.row_count > 1 &&
         std::none_of(batch.inputs.begin(), batch.inputs.end(), is_bytes);
}

// The first half comes last: the executor takes parts from the end. REQUIRES: two rows or more.
inline std::vector<BatchPart> Halves(const BatchPart& part) {
  const uint32_t half = part.row_count / 2;
  return {{part.first_row + half, part.row_count - half}, {part.first_row, half}};
}

// Parts of at most `rows` rows. The first part comes last.
inline std::vector<BatchPart> Chunks(uint32_t row_count, uint32_t rows) {
  std::vector<BatchPart> parts;
  for (uint32_t first = 0; first < row_count; first += rows) {
    parts.push_back({first, std::min(rows, row_count - first)});
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

}  // namespace mpsd
