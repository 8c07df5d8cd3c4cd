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

// The only copy of a batch's inputs between the slabs and the model. The rows of a batch with one
// run are used where they lie, without a copy, with the alignment that its first row happens to
// have. The rows of several runs are copied, 64-byte aligned, into memory of the lane's own, which
// grows to the largest batch seen and is kept.
//
// Owned by the lane's executor. Lives on the lane's thread. Never writes to a slab.
class Gather {
 public:
  // The inputs of `batch`, in the order of the model's spec, with the batch dim in front where the
  // model batches. Valid until the next call, and no longer than the batch's addresses. CHECKs that
  // there is memory for the copy: the batch's bytes are bounded by the slabs'.
  absl::Span<const InputTensor> Inputs(const Batch& batch);

 private:
  struct Free {
    void operator()(char* memory) const;
  };
  struct Staging {
    std::unique_ptr<char, Free> memory;
    uint64_t bytes = 0;
  };

  // The address of the input's rows, copied together if there is more than one run.
  const void* Contiguous(const Batch& batch, size_t input, uint64_t bytes);

  std::vector<InputTensor> tensors_;
  std::vector<Staging> staging_;  // for each input
};

}  // namespace mpsd
