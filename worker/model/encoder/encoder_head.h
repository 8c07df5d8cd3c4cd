// EncoderHead: turns the vectors of a row's tokens into the row's answer.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ATen/core/TensorBody.h"
#include "absl/status/statusor.h"
#include "worker/model/encoder/batch/device_batch.h"
#include "worker/model/encoder/encoder_folder.h"
#include "worker/model/encoder/layers.h"
#include "worker/model/encoder/weights/encoder_weights.h"
#include "worker/model/encoder/weights/model_folder.h"

namespace mpsd {

// The part above the encoder. Owned by EncoderModel. Constant, so thread-safe. Functions may throw
// what libtorch throws.
class EncoderHead {
 public:
  virtual ~EncoderHead() = default;

  // The spec's outputs in order, each with a row for each row of the batch. `tokens`, [tokens,
  // hidden], is the caller's no more.
  virtual std::vector<at::Tensor> Run(at::Tensor tokens, const DeviceBatch& batch) const = 0;
};

// The pooled vector, through the maps behind. A row without a counting token gives zeros.
// Thread-safe.
class SentenceHead final : public EncoderHead {
 public:
  // Dense maps have folders of their own in `source`. The encoder's pooler is no part of the
  // answer. INVALID_ARGUMENT and NOT_FOUND name a dense map's file; faults of `weights` stay there.
  static absl::StatusOr<std::unique_ptr<EncoderHead>> Load(const ModelFolder& source,
                                                           const EncoderFolder& folder,
                                                           EncoderWeights* weights,
                                                           c10::Device device);

  std::vector<at::Tensor> Run(at::Tensor tokens, const DeviceBatch& batch) const override;

 private:
  struct Step {
    bool is_dense = false;  // false: normalizes
    Linear dense;
    Activation activation = Activation::kIdentity;
  };
  explicit SentenceHead(Pooling pooling) : pooling_(pooling) {}

  const Pooling pooling_;
  std::vector<Step> steps_;
};

// Logits, one for each label, from the first token or the mean of all, and their scores.
// Thread-safe.
class ClassifierHead final : public EncoderHead {
 public:
  // Faults stay in `weights`.
  ClassifierHead(const EncoderConfig& config, EncoderWeights* weights);

  std::vector<at::Tensor> Run(at::Tensor tokens, const DeviceBatch& batch) const override;

 private:
  const Activation activation_;
  const Activation score_;
  const Pooling pooling_;
  Linear dense_;
  std::optional<Norm> norm_;  // only in some families
  Linear output_;
};

// The last token's logit of "yes" less the one of "no", and its score. By a sigmoid the score is
// the likelihood of "yes" among the two. Holds two rows of the head for words. Thread-safe.
class YesOrNoHead final : public EncoderHead {
 public:
  // Faults stay in `weights`.
  YesOrNoHead(const EncoderConfig& config, EncoderWeights* weights);

  std::vector<at::Tensor> Run(at::Tensor tokens, const DeviceBatch& batch) const override;

 private:
  const Activation score_;
  at::Tensor difference_;  // between both words, [hidden, 1]
};

}  // namespace mpsd
