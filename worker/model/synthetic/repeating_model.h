// RepeatingModel: answers a request once for each element of its input, or not at all. For clients
// and tests of decoupled models.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "worker/model/model.h"
#include "worker/model/synthetic/synthetic_model.h"
#include "worker/model/synthetic/synthetic_options.h"

namespace mpsd {

// Thread-safe. Takes IN INT32[-1], DELAY UINT32[-1] of as many elements and WAIT UINT32[1]. Answer
// i is OUT INT32[1] = IN[i] and IDX UINT32[1] = i, given DELAY[i] milliseconds after it was asked
// for; the end is told WAIT milliseconds after it was asked for. No delay is longer than
// kMaxDelayMs.
class RepeatingModel final : public Model {
 public:
  static constexpr uint32_t kMaxDelayMs = 10'000;

  // The order is decoupled, and its inputs and outputs are those above or not given.
  static absl::StatusOr<std::unique_ptr<Model>> Load(const LoadOrder& order,
                                                     SyntheticEffects effects);

  const ModelSpec& spec() const override { return spec_; }
  std::string device() const override { return "cpu"; }
  absl::Status BindLane(uint32_t) override { return absl::OkStatus(); }
  absl::Status Run(uint32_t lane, absl::Span<const InputTensor> inputs, uint32_t row_count,
                   OutputSink* sink) override;
  absl::StatusOr<bool> Answer(uint32_t lane, absl::Span<const InputTensor> inputs, uint32_t index,
                              OutputSink* sink) override;

 private:
  RepeatingModel(ModelSpec spec, const SyntheticOptions& options, SyntheticEffects effects);

  // What was asked for the element that is to be answered.
  absl::Status Act(int32_t element, OutputSink* sink) const;
  void Sleep(uint32_t delay_ms) const;

  const ModelSpec spec_;
  const SyntheticOptions options_;
  const SyntheticEffects effects_;
};

}  // namespace mpsd
