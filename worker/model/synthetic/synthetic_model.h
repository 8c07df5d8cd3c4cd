// SyntheticModel: gives its inputs back, and fails on request. For tests, sanitizer builds and
// benchmarks of everything but the model.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "worker/model/model.h"
#include "worker/model/synthetic/synthetic_options.h"

namespace mpsd {

// What a synthetic model does to the world; a test puts its own in their place.
struct SyntheticEffects {
  std::function<void(int64_t duration_ns)> sleep;
  std::function<void()> crash;
  std::function<void()> hang;

  // Sleeps, writes to address zero, sleeps for ever.
  static SyntheticEffects Real();
};

// Thread-safe. Output i is input i, unchanged.
class SyntheticModel final : public Model {
 public:
  // The order's inputs must be given; outputs that are given must mirror them.
  static absl::StatusOr<std::unique_ptr<Model>> Load(const LoadOrder& order,
                                                     SyntheticEffects effects);

  const ModelSpec& spec() const override { return spec_; }
  std::string device() const override { return "cpu"; }
  absl::Status BindLane(uint32_t) override { return absl::OkStatus(); }
  absl::Status Run(uint32_t lane, absl::Span<const InputTensor> inputs, uint32_t row_count,
                   OutputSink* sink) override;

 private:
  SyntheticModel(ModelSpec spec, const SyntheticOptions& options, SyntheticEffects effects);

  // Looks at the first element of every row and does what was asked for its value.
  absl::Status ActOnRows(const InputTensor& input, uint32_t row_count, OutputSink* sink) const;

  const ModelSpec spec_;
  const SyntheticOptions options_;
  const SyntheticEffects effects_;
  const bool looks_at_rows_;
};

}  // namespace mpsd
