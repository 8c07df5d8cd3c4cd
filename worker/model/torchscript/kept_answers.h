// KeptAnswers: all answers of a decoupled model's latest requests, each request's from one run.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "ATen/core/ivalue.h"
#include "absl/types/span.h"
#include "worker/model/model.h"

namespace mpsd {

// A decoupled module returns all answers to a request at once. The lane is asked for them one after
// another, with answers to other requests in between (decision 0011). The answers stay here so that
// forward does not run again for each of them. They are found by the bytes of the request's inputs:
// requests with equal inputs have equal answers.
//
//   Answer(request A, 0)   no entry: forward runs, Keep()      A
//   Answer(request B, 0)   no entry: forward runs, Keep()      B A
//   Answer(request A, 1)   Find()                              A B
//
// Bounded: beyond kMost the least recently used entry goes, and its request costs one more run.
// Owned by a TorchScriptModel, whose only lane calls it. Lives on the lane's thread.
class KeptAnswers {
 public:
  static constexpr size_t kMost = 4;

  // The answers to a request with these inputs; null if none are kept. Valid until the next Keep().
  const std::vector<c10::IValue>* Find(absl::Span<const InputTensor> inputs);

  // Keeps the answers and returns them. The tensors must not lie in the inputs' memory, which ends
  // with the request.
  const std::vector<c10::IValue>& Keep(absl::Span<const InputTensor> inputs,
                                       std::vector<c10::IValue> answers);

 private:
  struct Entry {
    std::string inputs;
    std::vector<c10::IValue> answers;
  };

  std::deque<Entry> entries_;  // the most recently used first
};

}  // namespace mpsd
