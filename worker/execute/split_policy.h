// When a batch that failed is run again in parts, and in which. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "worker/execute/batch.h"

namespace mpsd {

// Rows of a batch that run together.
struct BatchPart {
  uint32_t first_row = 0;
  uint32_t row_count = 0;
};

// Runs of parts that one failed batch may cost: enough to find one bad row in the largest batch,
// and to run each row of a small one alone.
inline constexpr uint32_t kMaxPartRuns = 64;

// Out-of-memory errors after which a lane takes smaller batches at once.
inline constexpr uint32_t kMemoryFailures = 2;

// A model that threw may have done so for one row; memory may suffice for fewer. An answer that is
// not as the spec says is the model's own fault, whatever the rows, and a lost device stays lost.
inline bool MayHelpToSplit(const absl::Status& status) {
  return absl::IsInternal(status) || absl::IsResourceExhausted(status);
}

// Parts can be put together again where all inputs have rows of one size. Outputs of BYTES have
// not; a sink refuses them.
inline bool CanSplit(const Batch& batch) {
  const auto is_bytes = [](const BatchInput& input) { return input.datatype == DataType::kBytes; };
  return batch.has_batch_dim && batch.row_count > 1 &&
         std::none_of(batch.inputs.begin(), batch.inputs.end(), is_bytes);
}

// The two halves of a part, of at least two rows, so that the first is the last of the list: parts
// are taken from the end.
inline std::vector<BatchPart> Halves(const BatchPart& part) {
  const uint32_t half = part.row_count / 2;
  return {{part.first_row + half, part.row_count - half}, {part.first_row, half}};
}

// A batch in parts of at most `rows`, likewise the first last.
inline std::vector<BatchPart> Chunks(uint32_t row_count, uint32_t rows) {
  std::vector<BatchPart> parts;
  for (uint32_t first = 0; first < row_count; first += rows) {
    parts.push_back({first, std::min(rows, row_count - first)});
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

}  // namespace mpsd
