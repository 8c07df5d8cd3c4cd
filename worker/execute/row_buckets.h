// RowBuckets: runs batches of any size as batches of a few sizes.
//
// Some devices compile a graph for each shape and keep it: mps takes tens of milliseconds and some
// memory for each new number of rows, in the middle of serving. Batches for such a model therefore
// have 1, 2, 4, 8, … or max_batch_size rows. Missing rows are copies of the batch's last row, and
// their answers are dropped. A model that accepts the row accepts its copies, but it might not
// accept zeros.
//
//   5 rows, max_batch_size 6:   a b c d e  ─▶  a b c d e e  ─▶ model ─▶  A B C D E E  ─▶  A B C D E
//
// On a request's path inside step 9, between BatchExecutor and Model::Run(). Warm-up runs each
// bucket on each lane (warm_up.h), so that serving meets no other size.
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

// The bucket of `row_count` rows: the next power of two, or `rows_max` where that is smaller. Pure.
// REQUIRES: 1 <= row_count <= rows_max.
inline uint32_t RowBucketOf(uint32_t row_count, uint32_t rows_max) {
  return std::min(std::bit_ceil(row_count), rows_max);
}

// All buckets up to `rows_max`: 1, 2, 4, 8, … and `rows_max` itself. Sorted, no two alike. Pure.
std::vector<uint32_t> RowBucketsUpTo(uint32_t rows_max);

// The row counts with which a model is run, without duplicates, sorted. A model that wants buckets
// is run with each bucket. For another model the smallest and the largest batch stand for all.
// Pure.
std::vector<uint32_t> RowCountsOf(const Model& model);

// Owned by a lane's executor, one for each lane; lives on the lane's thread. Keeps its memory,
// bounded by the largest batch and its outputs. The model outlives it.
class RowBuckets {
 public:
  RowBuckets(uint32_t lane, Model* model) : lane_(lane), model_(model) {}

  // Calls Model::Run(). Fills the inputs up to the bucket's rows if the model wants buckets and the
  // first dim of each input that is there is `row_count`. An output whose first dim is not the
  // bucket passes unchanged. In both cases `sink` sees `row_count` rows and no failure of an added
  // row, and its outputs are complete on return. Costs a copy of inputs and outputs if rows are
  // missing. Fails as Model::Run() does; the outputs then mean nothing.
  absl::Status Run(absl::Span<const InputTensor> inputs, uint32_t row_count, OutputSink* sink);

 private:
  std::vector<InputTensor> Padded(absl::Span<const InputTensor> inputs, uint32_t row_count,
                                  uint32_t bucket);

  const uint32_t lane_;
  Model* const model_;
  std::vector<std::string> inputs_;  // one for each input, as outputs_ has one for each output
  // A deque does not move its elements when it grows: the model writes the outputs only after all
  // are declared.
  std::deque<std::string> outputs_;
};

}  // namespace mpsd
