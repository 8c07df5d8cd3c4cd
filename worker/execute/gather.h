// Gather: turns a batch's row runs into one contiguous tensor an input.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "worker/execute/batch.h"
#include "worker/model/model.h"

namespace mpsd {

// A batch of one run is used where it lies, without a copy, aligned as its first row happens to be;
// several runs are copied, 64-byte aligned, into memory of
// the lane's own, which grows to the largest batch seen and is kept. Lives on the lane's thread.
class Gather {
 public:
  // The inputs of `batch`; valid until the next call.
  absl::Span<const InputTensor> Inputs(const Batch& batch);

 private:
  struct Free {
    void operator()(char* memory) const;
  };
  struct Staging {
    std::unique_ptr<char, Free> memory;
    uint64_t bytes = 0;
  };

  const void* Contiguous(const Batch& batch, size_t input, uint64_t bytes);

  std::vector<InputTensor> tensors_;
  std::vector<Staging> staging_;  // an input each
};

}  // namespace mpsd
