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
// slabs and the model. The rows of a batch with one run are used where they lie, without a copy,
// with the alignment that its first row happens to have. The rows of several runs are copied,
// 64-byte aligned, into memory of the lane's own, for each input a piece that grows to the largest
// batch seen and is kept.
//
// Invariants:
// 1. Row i of each tensor is row i of the batch: runs follow each other as the record has them.
// 2. A tensor has the bytes of its runs and no more. BatchReader has checked that these lie in the
//    slabs.
// 3. The rows of a single run are shared memory, which this process can only read. A model that
//    may write to its inputs copies them itself.
//
// Owned by the lane's executor. Lives on the lane's thread. Never writes to a slab.
class Gather {
 public:
  // The inputs of `batch`, in the order of the model's spec, with the batch dim in front where the
  // model batches; one that the batch leaves out keeps its place (InputTensor::is_left_out). Valid
  // until the next call, and no longer than the batch's addresses. Costs a copy of the batch's
  // bytes where there are several runs, with each call anew. CHECKs that there is memory for the
  // copy: the batch's bytes are bounded by the slabs'.
  absl::Span<const InputTensor> Inputs(const Batch& batch);

 private:
  struct Free {
    void operator()(char* memory) const;
  };
  struct Staging {
    std::unique_ptr<char, Free> memory;
    uint64_t bytes = 0;  // at least those of the largest batch seen
  };

  // The address of the input's rows, copied together if there is more than one run. Not null, even
  // where there is no byte.
  const void* Contiguous(const Batch& batch, size_t input, uint64_t bytes);

  std::vector<InputTensor> tensors_;
  std::vector<Staging> staging_;  // for each input
};

}  // namespace mpsd
