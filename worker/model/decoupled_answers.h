// DecoupledAnswers: the answers of a decoupled model, one at a time.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace mpsd {

class OutputSink;
struct InputTensor;

// Part of a decoupled model. Called by lanes in place of Model::Run(). Thread-safe.
class DecoupledAnswers {
 public:
  virtual ~DecoupledAnswers() = default;

  // Gives answer `index`, from 0, to one request. False, with an empty sink: there is none, nor are
  // there later ones. The answer depends only on inputs and index, because lanes of different
  // processes may be asked in turn. Fails as Run() does.
  virtual absl::StatusOr<bool> Answer(uint32_t lane, absl::Span<const InputTensor> inputs,
                                      uint32_t index, OutputSink* sink) = 0;
};

}  // namespace mpsd
