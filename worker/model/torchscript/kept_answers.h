// KeptAnswers: all answers of a decoupled model's open requests.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "ATen/core/ivalue.h"
#include "absl/types/span.h"
#include "worker/model/model.h"

namespace mpsd {

// A decoupled module returns all answers to a request at once, but the lane is asked for them one
// by one (decision 0011). Kept here, they need no further run. They are found by the bytes of the
// request's inputs: equal inputs have equal answers.
//
//   Answer(request A, 0)   no entry: forward runs, Keep()      A
//   Answer(request B, 0)   no entry: forward runs, Keep()      B A
//   Answer(request A, 1)   Find()                              A B
//   Answer(request A, 2)   Find(), no such answer: DropLatest()  B
//
// Beyond kMostBytes the least recently used entries go, but the latest stays; a lost entry costs
// one more run. Owned by a TorchScriptModel. Lives on the thread of its only lane.
class KeptAnswers {
 public:
  static constexpr size_t kMostBytes = size_t{64} << 20;

  // Null if none are kept. Valid until the next call that is not const.
  const std::vector<c10::IValue>* Find(absl::Span<const InputTensor> inputs);

  // Drops what the latest Find() or Keep() has returned.
  void DropLatest();

  // The tensors must not lie in the inputs' memory, which ends with the request.
  const std::vector<c10::IValue>& Keep(absl::Span<const InputTensor> inputs,
                                       std::vector<c10::IValue> answers);

 private:
  struct Entry {
    std::string inputs;
    std::vector<c10::IValue> answers;
    size_t bytes = 0;
  };

  std::deque<Entry> entries_;  // the most recently used first
  size_t bytes_ = 0;           // all entries together
};

}  // namespace mpsd
