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

// The only copy of a batch's inputs between the slabs and the model. A single run is used in place,
// however its first row is aligned. Several runs are copied, 64-byte aligned, into memory that
// grows to the largest batch and is kept.
//
// Invariants:
//   1. Row i of each tensor is row i of the batch.
//   2. A tensor has exactly the bytes of its runs.
//   3. A single run's rows are read-only shared memory: a model that writes to its inputs must copy
//      them.
//
// Owned by the lane's executor. Lives on the lane's thread.
class Gather {
 public:
  // In the order of the spec, with the batch dim in front where the model batches. An input that
  // the batch leaves out keeps its place (InputTensor::is_left_out). Valid until the next call, and
  // no longer than the batch's addresses. CHECKs that there is memory for the copy, whose size the
  // slabs bound.
  absl::Span<const InputTensor> Inputs(const Batch& batch);

 private:
  struct Free {
    void operator()(char* memory) const;
  };
  struct Staging {
    std::unique_ptr<char, Free> memory;
    uint64_t bytes = 0;
  };

  // The input's rows, copied if there are several runs. Never null, even for zero bytes.
  const void* Contiguous(const Batch& batch, size_t input, uint64_t bytes);

  std::vector<InputTensor> tensors_;
  std::vector<Staging> staging_;  // one for each input
};

}  // namespace mpsd
