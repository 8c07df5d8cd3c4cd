// Batch: the job of one slot, in the worker's private memory, checked against the segments' bounds.
//
// A batch record (proto/shm/layout.h) holds offsets and counts in memory that another process
// writes. A Batch holds the same as addresses that this process may follow without another check:
//
//   Batch                                     memory
//     inputs[i]   datatype, dims of a row
//     runs[r]     row_count, inputs[i] ──────▶ slab segment, read-only: rows of input i
//     output      ───────────────────────────▶ worker segment: the output lease
//
// A batch of 5 rows from two slabs has two runs. {3 rows, at row 7 of slab 2} comes first, then {2
// rows, at row 0 of slab 9}. The order of the runs is the order of the rows in the outputs.
//
// A row is one sample where the model batches; otherwise the batch is one request and one "row".
#pragma once

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "proto/base/datatype.h"
#include "proto/base/shape.h"

namespace mpsd {

// An input of the model. Lengths are padded, so all rows of the batch have the same shape.
struct BatchInput {
  DataType datatype = DataType::kInvalid;  // kInvalid: all requests leave this input out
  Dims dims;                               // dims of one row, without the batch dim
  uint64_t row_bytes = 0;                  // 0 for BYTES, whose rows differ in length
};

// A row run: consecutive rows of one slab. `inputs[i]` is the address of the run's first row in the
// part of the slab that holds input i.
struct BatchRun {
  uint32_t row_count = 0;
  absl::InlinedVector<const char*, 4> inputs;
  absl::InlinedVector<uint64_t, 4> input_bytes;  // for each input, the bytes of all the run's rows
};

// Filled by BatchReader, consumed by BatchExecutor. Both reuse one Batch and its memory. Owned by
// the lane; lives on the lane's thread. The addresses stay valid until the batch's completion is
// published. Nothing changes a Batch while it runs, whole or in parts.
//
// Bounds, checked by BatchReader: 1 row to the spec's max_batch_size (1 where the model does not
// batch), in 1 to kMaxRuns runs whose row counts add up to `row_count`. The inputs are those in the
// spec.
struct Batch {
  uint64_t id = 0;            // the front end's id, repeated in the completion
  int64_t live_until_ns = 0;  // the last request's deadline: nobody waits after it
  uint32_t row_count = 0;
  bool has_batch_dim = false;
  uint32_t answer_index = 0;  // which answer a decoupled model must give, counted from 0
  uint32_t bytes_inputs = 0;  // number of inputs of datatype BYTES
  absl::InlinedVector<BatchInput, 4> inputs;
  absl::InlinedVector<BatchRun, 4> runs;
  char* output = nullptr;     // the output lease, in this worker's own segment
  uint64_t output_bytes = 0;  // size of the lease; larger outputs get a larger one in a second run
};

}  // namespace mpsd
