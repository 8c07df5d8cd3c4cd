// Gather: makes one contiguous tensor of each input of a batch's row runs.
//
//   slab A: rows 4 5 6      ─┐
//                            ├──▶  staging: rows 4 5 6 0 1     several runs: one copy
//   slab B: rows 0 1        ─┘
//
//   slab A: rows 2 3 4 5    ───▶  the slab itself              one run: no copy
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "worker/execute/batch.h"
#include "worker/model/model.h"

namespace mpsd {

// Step 9 of a request's path, before the model runs: the only copy of a batch's inputs between the
// slabs and the model. A single run is used in place, with whatever alignment its first row has.
// The rows of several runs are copied, 64-byte aligned, into the lane's own memory, which grows to
// the largest batch seen and is kept.
//
// Invariants:
// 1. Row i of each tensor is row i of the batch: runs follow each other in the record's order.
// 2. A tensor has exactly the bytes of its runs. BatchReader has checked that these lie in the
//    slabs.
// 3. The rows of a single run are shared memory, which this process can only read. A model that may
//    write to its inputs must copy them itself.
//
// Owned by the lane's executor. Lives on the lane's thread. Never writes to a slab.
class Gather {
 public:
  // The inputs of `batch`, in the order of the model's spec, with the batch dim in front where the
  // model batches. An input that the batch leaves out keeps its place (InputTensor::is_left_out).
  // Valid until the next call, and no longer than the batch's addresses. Copies several runs anew
  // in each call. CHECKs that there is memory for the copy, whose size the slabs bound.
  absl::Span<const InputTensor> Inputs(const Batch& batch);

 private:
  struct Free {
    void operator()(char* memory) const;
  };
  struct Staging {
    std::unique_ptr<char, Free> memory;
    uint64_t bytes = 0;  // at least the bytes of the largest batch seen
  };

  // The address of the input's rows, copied together if there are several runs. Never null, even
  // for zero bytes.
  const void* Contiguous(const Batch& batch, size_t input, uint64_t bytes);

  std::vector<InputTensor> tensors_;
  std::vector<Staging> staging_;  // one for each input
};

}  // namespace mpsd
