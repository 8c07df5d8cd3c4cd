// SyntheticEncoder: turns rows of tokens into numbers, for tests of everything around an encoder.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "proto/link/messages.h"
#include "worker/model/model.h"
#include "worker/model/synthetic/synthetic_model.h"
#include "worker/model/synthetic/synthetic_options.h"

namespace mpsd {

// Takes input_ids INT64[-1], attention_mask INT64[-1], and, if the config has it, token_type_ids
// INT64[-1], optional. Each output is a row of FP32 of a fixed length, by default
// sentence_embedding FP32[8]. Masked tokens and other rows change nothing:
//
//   number j of a row = the sum over its tokens of (id * (j + 3)) mod 17 - 8
//
// The delays of SyntheticOptions apply. Owned by the worker's main. Thread-safe: constant.
class SyntheticEncoder final : public Model {
 public:
  // INVALID_ARGUMENT unless the order batches and has these inputs and outputs. The lanes' threads
  // call `effects`.
  static absl::StatusOr<std::unique_ptr<Model>> Load(const LoadOrder& order,
                                                     SyntheticEffects effects);

  absl::Status Run(uint32_t lane, absl::Span<const InputTensor> inputs, uint32_t row_count,
                   OutputSink* sink) override;

 private:
  SyntheticEncoder(ModelSpec spec, const SyntheticOptions& options, SyntheticEffects effects);

  const SyntheticOptions options_;
  const SyntheticEffects effects_;
};

}  // namespace mpsd
