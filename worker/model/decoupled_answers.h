// DecoupledAnswers: the answers of a decoupled model, one at a time.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace mpsd {

class OutputSink;
struct InputTensor;

// Part of a model whose spec is decoupled. Called by lanes as Model::Run() is, and in its place.
// Thread-safe.
class DecoupledAnswers {
 public:
  virtual ~DecoupledAnswers() = default;

  // Gives answer `index`, from 0, to one request. Returns false, with nothing in the sink, when the
  // request has no answer of that index; later indexes then have none either, and are not asked
  // for. The answer depends only on the inputs and the index, because lanes of different processes
  // may be asked in turn. Fails as Run() does.
  virtual absl::StatusOr<bool> Answer(uint32_t lane, absl::Span<const InputTensor> inputs,
                                      uint32_t index, OutputSink* sink) = 0;
};

}  // namespace mpsd
