// SyntheticModel: gives its inputs back as outputs, and fails on request. For tests and benchmarks
// of everything but the model: an answer shows whether every byte of every row took the right way
// through the server. Needs neither a file nor libtorch.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/fd.h"
#include "proto/link/messages.h"
#include "worker/model/model.h"
#include "worker/model/sharing/device_memory.h"
#include "worker/model/synthetic/synthetic_options.h"

namespace mpsd {

// Unused numbers, the same in each process, for tests of sharing weights. Shared in memory of the
// host. Thread-compatible.
class SyntheticWeights final : public ShareableWeights {
 public:
  explicit SyntheticWeights(uint64_t bytes);

  uint64_t bytes() const override { return bytes_; }
  absl::StatusOr<UniqueFd> Share() override;
  absl::Status Use(UniqueFd memory) override;

 private:
  const uint64_t bytes_;
  std::vector<char> own_;  // empty once shared
  std::unique_ptr<DeviceMemory> shared_;
};

// A test passes its own, so that it need not wait or die. Called on the lanes' threads; at load on
// the main thread.
struct SyntheticEffects {
  std::function<void(int64_t duration_ns)> sleep;
  std::function<void()> crash;
  std::function<void()> hang;

  // Sleeps; writes to address zero; sleeps forever.
  static SyntheticEffects Real();
};

// The status, with the model's name before the text.
absl::Status InSynthetic(const LoadOrder& order, const absl::Status& status);

// Output i is input i, unchanged. By default the output has the input's name, with OUTPUT in place
// of INPUT, or else OUTPUT0, OUTPUT1, …. A run sleeps, then looks at the rows one by one, to crash,
// hang, throw or fail single rows, and copies last. The output of an input that is left out is
// zeros, of length 0 in open dims. Owned by the worker's main. Thread-safe: lanes change nothing.
class SyntheticModel final : public Model {
 public:
  // INVALID_ARGUMENT unless the order has inputs, and its outputs, if any, mirror them. Sleeps,
  // crashes or fails here if the options say so.
  static absl::StatusOr<std::unique_ptr<Model>> Load(const LoadOrder& order,
                                                     SyntheticEffects effects);

  ShareableWeights* weights() override { return weights_.bytes() > 0 ? &weights_ : nullptr; }
  absl::Status Run(uint32_t lane, absl::Span<const InputTensor> inputs, uint32_t row_count,
                   OutputSink* sink) override;

 private:
  SyntheticModel(ModelSpec spec, const SyntheticOptions& options, SyntheticEffects effects);

  // Does what the options ask for each row's first element.
  absl::Status ActOnRows(const InputTensor& input, uint32_t row_count, OutputSink* sink) const;

  const SyntheticOptions options_;
  const SyntheticEffects effects_;
  const bool looks_at_rows_;
  SyntheticWeights weights_;
};

}  // namespace mpsd
