// RepeatingModel: answers a request once for each element of its input. For testing decoupled
// models and their clients.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "proto/link/messages.h"
#include "worker/model/model.h"
#include "worker/model/synthetic/synthetic_model.h"
#include "worker/model/synthetic/synthetic_options.h"

namespace mpsd {

// A decoupled synthetic model. Takes IN INT32[-1], DELAY UINT32[-1] with as many elements, and WAIT
// UINT32[1]. Answer i is OUT INT32[1] = IN[i] and IDX UINT32[1] = i. The config may give these
// tensors other names, in the same order. The lane sleeps DELAY[i] milliseconds before answer i,
// and WAIT milliseconds before it says that there is no further answer; no delay exceeds
// kMaxDelayMs. An empty IN has no answer at all. A request fails if DELAY and IN differ in length,
// or IN has more than kMaxAnswers elements.
//
//   request    IN = [7, 8]   DELAY = [0, 20]   WAIT = [5]
//   Answer 0   at once       OUT = 7, IDX = 0
//   Answer 1   after 20 ms   OUT = 8, IDX = 1
//   Answer 2   after 5 ms    there is none: the request ends
//
// The parameters of SyntheticOptions work here too: a delay comes before each answer, and an "…_if"
// is compared with the element to be answered.
//
// Owned by the worker's main. Thread-safe: it has only constant state.
class RepeatingModel final : public Model, private DecoupledAnswers {
 public:
  static constexpr uint32_t kMaxDelayMs = 10'000;

  // INVALID_ARGUMENT unless the order is decoupled, does not batch, and has either the inputs and
  // outputs above, under any names, or none. The lanes' threads call `effects`, and so does this
  // call if a parameter asks for a delay or a crash at load.
  static absl::StatusOr<std::unique_ptr<Model>> Load(const LoadOrder& order,
                                                     SyntheticEffects effects);

  DecoupledAnswers* answers() override { return this; }
  absl::Status Run(uint32_t lane, absl::Span<const InputTensor> inputs, uint32_t row_count,
                   OutputSink* sink) override;

 private:
  RepeatingModel(ModelSpec spec, const SyntheticOptions& options, SyntheticEffects effects);

  absl::StatusOr<bool> Answer(uint32_t lane, absl::Span<const InputTensor> inputs, uint32_t index,
                              OutputSink* sink) override;

  // Crashes, hangs or fails, if the options ask for that at the element to be answered.
  absl::Status Act(int32_t element, OutputSink* sink) const;
  void Sleep(uint32_t delay_ms) const;

  const SyntheticOptions options_;
  const SyntheticEffects effects_;
};

}  // namespace mpsd
