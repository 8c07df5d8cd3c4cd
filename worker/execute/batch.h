// Batch: the job of one slot, in the worker's private memory, checked against the segments' bounds.
//
// A batch record (proto/shm/layout.h) is offsets and counts in memory that another process writes.
// A Batch is the same as addresses that this process may follow without a further look:
//
//   Batch                                     memory that it points to
//     inputs[i]   datatype, dims of a row
//     runs[r]     row_count, inputs[i] ──────▶ slab segment, read-only: rows of input i, contiguous
//     output      ───────────────────────────▶ worker segment: the lease for the outputs
//
// A batch of 5 rows from two slabs has the runs {3 rows, at row 7 of slab 2} and {2 rows, at row 0
// of slab 9}: their order is the order of the rows in the outputs.
//
// A row is one sample where the model batches; otherwise the batch is one request and one "row".
#pragma once

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "proto/base/datatype.h"
#include "proto/base/shape.h"

namespace mpsd {

// An input of the model, as the rows of this batch have it: lengths are padded, so all rows are
// alike.
struct BatchInput {
  DataType datatype = DataType::kInvalid;  // kInvalid: all its requests leave it out
  Dims dims;                               // of one row, without the batch dim
  uint64_t row_bytes = 0;                  // 0 for BYTES, whose rows differ in length
};

// A row run: consecutive rows of one slab. `inputs[i]` is the address of the first of them in the
// part of the slab that holds input i.
struct BatchRun {
  uint32_t row_count = 0;
  absl::InlinedVector<const char*, 4> inputs;
  absl::InlinedVector<uint64_t, 4> input_bytes;  // for each input, of all the run's rows
};

// Filled by BatchReader, consumed by BatchExecutor; both use the same Batch for one batch after
// another, so that its memory is kept. Owned by the lane; lives on the lane's thread. Its addresses
// stay valid until the batch's completion is published: the front end removes no segment and reuses
// no row before. Nothing changes it while it runs, in one piece or in parts.
//
// Bounds, which BatchReader has checked: from 1 row to the spec's max_batch_size (1 where the model
// does not batch), in 1 to kMaxRuns runs whose row counts add up to `row_count`; the inputs are the
// spec's.
struct Batch {
  uint64_t id = 0;            // the front end's; the completion repeats it
  int64_t live_until_ns = 0;  // when the last request's deadline is over: nobody waits after this
  uint32_t row_count = 0;
  bool has_batch_dim = false;
  uint32_t answer_index = 0;  // which answer a decoupled model has to give, from 0
  uint32_t bytes_inputs = 0;  // how many inputs are of datatype BYTES
  absl::InlinedVector<BatchInput, 4> inputs;
  absl::InlinedVector<BatchRun, 4> runs;
  char* output = nullptr;     // the output lease, in this worker's own segment
  uint64_t output_bytes = 0;  // of the lease; more asks for a larger one and a second run
};

}  // namespace mpsd
