// RowBuckets: runs batches of any size as batches of 1, 2, 4, 8, … or max_batch_size rows.
//
// Some devices compile and keep a graph for each shape: mps takes tens of milliseconds for each new
// number of rows. Missing rows are copies of the last row, which the model accepts; it might refuse
// zeros. Warm-up runs each bucket on each lane.
//
//   5 rows, max_batch_size 6:   a b c d e  ─▶  a b c d e e  ─▶ model ─▶  A B C D E E  ─▶  A B C D E
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "worker/model/model.h"

namespace mpsd {

// Pure. REQUIRES: 1 <= row_count <= rows_max.
inline uint32_t RowBucketOf(uint32_t row_count, uint32_t rows_max) {
  return std::min(std::bit_ceil(row_count), rows_max);
}

// Sorted, no two alike. Pure.
std::vector<uint32_t> RowBucketsUpTo(uint32_t rows_max);

// The row counts to run before serving, sorted: each bucket if the model wants buckets, otherwise
// the smallest and the largest batch. Pure.
std::vector<uint32_t> RowCountsOf(const Model& model);

// Owned by a lane's executor, lives on the lane's thread. Keeps memory for the largest batch and
// its outputs. The model outlives it.
class RowBuckets {
 public:
  RowBuckets(uint32_t lane, Model* model) : lane_(lane), model_(model) {}

  // Calls Model::Run(). Fills the inputs up to the bucket if the model wants buckets and the first
  // dim of each present input is `row_count`. An output whose first dim is not the bucket passes
  // unchanged. `sink` sees `row_count` rows, no failure of an added row, and complete outputs on
  // return. If rows are missing, inputs and outputs are copied. After an error the outputs mean
  // nothing.
  absl::Status Run(absl::Span<const InputTensor> inputs, uint32_t row_count, OutputSink* sink);

 private:
  std::vector<InputTensor> Padded(absl::Span<const InputTensor> inputs, uint32_t row_count,
                                  uint32_t bucket);

  const uint32_t lane_;
  Model* const model_;
  std::vector<std::string> inputs_;  // one for each input
  // The model writes only after all outputs are declared; a deque does not move them when it grows.
  std::deque<std::string> outputs_;
};

}  // namespace mpsd
