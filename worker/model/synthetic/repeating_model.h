// RepeatingModel: answers a request once for each element of its input. For tests of decoupled
// models.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "proto/link/messages.h"
#include "worker/model/model.h"
#include "worker/model/synthetic/synthetic_model.h"
#include "worker/model/synthetic/synthetic_options.h"

namespace mpsd {

// Takes IN INT32[-1], DELAY UINT32[-1] of the same length, and WAIT UINT32[1], under any names. The
// lane sleeps DELAY[i] milliseconds before answer i, and WAIT milliseconds after the last one, at
// most kMaxDelayMs each.
//
//   request    IN = [7, 8]   DELAY = [0, 20]   WAIT = [5]
//   Answer 0   at once       OUT INT32[1] = 7, IDX UINT32[1] = 0
//   Answer 1   after 20 ms   OUT = 8, IDX = 1
//   Answer 2   after 5 ms    there is none: the request ends
//
// SyntheticOptions work here too: a delay comes before each answer, and an "…_if" is compared with
// the element. Owned by the worker's main. Thread-safe: constant.
class RepeatingModel final : public Model, private DecoupledAnswers {
 public:
  static constexpr uint32_t kMaxDelayMs = 10'000;

  // INVALID_ARGUMENT unless the order is decoupled, does not batch, and has either the inputs and
  // outputs above or none. The lanes' threads call `effects`, and this call does if a parameter
  // says so.
  static absl::StatusOr<std::unique_ptr<Model>> Load(const LoadOrder& order,
                                                     SyntheticEffects effects);

  DecoupledAnswers* answers() override { return this; }
  absl::Status Run(uint32_t lane, absl::Span<const InputTensor> inputs, uint32_t row_count,
                   OutputSink* sink) override;

 private:
  RepeatingModel(ModelSpec spec, const SyntheticOptions& options, SyntheticEffects effects);

  absl::StatusOr<bool> Answer(uint32_t lane, absl::Span<const InputTensor> inputs, uint32_t index,
                              OutputSink* sink) override;

  // Crashes, hangs or fails, if the options say so for the element.
  absl::Status Act(int32_t element, OutputSink* sink) const;
  void Sleep(uint32_t delay_ms) const;

  const SyntheticOptions options_;
  const SyntheticEffects effects_;
};

}  // namespace mpsd
