// SyntheticEncoder: makes numbers of rows of tokens. For tests of all that is around an encoder.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "worker/model/model.h"
#include "worker/model/synthetic/synthetic_model.h"
#include "worker/model/synthetic/synthetic_options.h"

namespace mpsd {

// A synthetic model with the inputs of an encoder: input_ids INT64[-1], attention_mask INT64[-1],
// and, where the config has it, token_type_ids INT64[-1], optional. Each output is a row of FP32 of
// a fixed length, such as "sentence_embedding" or "scores"; without any in the config it is
// sentence_embedding FP32[8]. Tokens that the mask leaves out do not count, so padding and company
// in a batch change nothing:
//
//   number j of a row = the sum over its tokens of (id * (j + 3)) mod 17 - 8
//
// Of SyntheticOptions the delays count. Owned by the worker's main. Thread-safe: it has no state
// but its constants.
class SyntheticEncoder final : public Model {
 public:
  // INVALID_ARGUMENT unless the order batches and has the inputs and outputs above. `effects` is
  // called on the lanes' threads.
  static absl::StatusOr<std::unique_ptr<Model>> Load(const LoadOrder& order,
                                                     SyntheticEffects effects);

  const ModelSpec& spec() const override { return spec_; }
  std::string device() const override { return "cpu"; }
  absl::Status BindLane(uint32_t) override { return absl::OkStatus(); }
  absl::Status Run(uint32_t lane, absl::Span<const InputTensor> inputs, uint32_t row_count,
                   OutputSink* sink) override;

 private:
  SyntheticEncoder(ModelSpec spec, const SyntheticOptions& options, SyntheticEffects effects);

  const ModelSpec spec_;
  const SyntheticOptions options_;
  const SyntheticEffects effects_;
};

}  // namespace mpsd
