// Batch: the job of one slot, checked against the segments' bounds.
//
// A batch record (proto/shm/layout.h) has offsets and counts in memory that another process writes.
// A Batch has addresses that need no further check:
//
//   Batch                                     memory
//     inputs[i]   datatype, dims of a row
//     runs[r]     row_count, inputs[i] ──────▶ slab segment, read-only: rows of input i
//     output      ───────────────────────────▶ worker segment: the output lease
//
// The order of the runs is the order of the rows in the outputs. Where the model does not batch,
// the batch is one request with one "row".
#pragma once

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "proto/base/datatype.h"
#include "proto/base/shape.h"

namespace mpsd {

// An input of the model. Lengths are padded: all rows have the same shape.
struct BatchInput {
  DataType datatype = DataType::kInvalid;  // kInvalid: all requests leave this input out
  Dims dims;                               // without the batch dim
  uint64_t row_bytes = 0;                  // 0 for BYTES, whose rows differ in length
};

// Consecutive rows of one slab. `inputs[i]` is the address of the first row of input i.
struct BatchRun {
  uint32_t row_count = 0;
  absl::InlinedVector<const char*, 4> inputs;
  absl::InlinedVector<uint64_t, 4> input_bytes;  // for all the run's rows
};

// Filled by BatchReader, consumed by BatchExecutor, reused for the next batch. Owned by the lane;
// lives on the lane's thread. The addresses stay valid until the completion is published.
//
// Bounds: 1 row to max_batch_size (1 where the model does not batch), in 1 to kMaxRuns runs whose
// row counts add up to `row_count`. The inputs are the spec's.
struct Batch {
  uint64_t id = 0;
  int64_t live_until_ns = 0;  // the last request's deadline
  uint32_t row_count = 0;
  bool has_batch_dim = false;
  uint32_t answer_index = 0;  // the answer that a decoupled model must give, from 0
  uint32_t bytes_inputs = 0;  // inputs of datatype BYTES
  absl::InlinedVector<BatchInput, 4> inputs;
  absl::InlinedVector<BatchRun, 4> runs;
  char* output = nullptr;     // the lease, in this worker's own segment
  uint64_t output_bytes = 0;  // larger outputs get a larger lease in a second run
};

}  // namespace mpsd
