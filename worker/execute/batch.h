// Batch: the job of one slot, in the worker's private memory, checked against the segments' bounds.
#pragma once

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "proto/base/datatype.h"
#include "proto/base/shape.h"

namespace mpsd {

struct BatchInput {
  DataType datatype = DataType::kInvalid;
  Dims dims;               // of one row, without the batch dim
  uint64_t row_bytes = 0;  // 0 for BYTES, whose rows differ in length
};

// Consecutive rows of one slab. `inputs[i]` is the address of the first of them in input i's
// region.
struct BatchRun {
  uint32_t row_count = 0;
  absl::InlinedVector<const char*, 4> inputs;
  absl::InlinedVector<uint64_t, 4> input_bytes;  // for each input, of all the run's rows
};

// Filled by BatchReader, consumed by BatchExecutor; both use the same Batch for one batch after
// another. Its addresses stay valid until the batch's completion is published.
struct Batch {
  uint64_t id = 0;
  int64_t live_until_ns = 0;
  uint32_t row_count = 0;
  bool has_batch_dim = false;
  uint32_t answer_index = 0;  // which answer a decoupled model has to give, from 0
  uint32_t bytes_inputs = 0;  // how many inputs are of datatype BYTES
  absl::InlinedVector<BatchInput, 4> inputs;
  absl::InlinedVector<BatchRun, 4> runs;
  char* output = nullptr;  // the output lease, in this worker's own segment
  uint64_t output_bytes = 0;
};

}  // namespace mpsd
