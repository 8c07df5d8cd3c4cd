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

// The part of a model above its encoder. Made while a model is loaded; owned by EncoderModel.
// Constant afterwards, so thread-safe. Functions may throw what libtorch throws.
class EncoderHead {
 public:
  virtual ~EncoderHead() = default;

  // The outputs of the spec in its order, each with one row for each row of the batch. The
  // encoder's result is `tokens`, [tokens, hidden], and the caller gives it up.
  virtual std::vector<at::Tensor> Run(at::Tensor tokens, const DeviceBatch& batch) const = 0;
};

// The pooled vector of a row, through the maps behind the pooling. A row without a counting token
// gives zeros. Thread-safe.
class SentenceHead final : public EncoderHead {
 public:
  // `source` is the folder, where the weights of dense maps lie in folders of their own. The
  // encoder's pooler, if any, is not part of the answer. INVALID_ARGUMENT and NOT_FOUND name a file
  // of a dense map and its fault; faults of `weights` stay in `weights`.
  static absl::StatusOr<std::unique_ptr<EncoderHead>> Load(const ModelFolder& source,
                                                           const EncoderFolder& folder,
                                                           EncoderWeights* weights,
                                                           c10::Device device);

  std::vector<at::Tensor> Run(at::Tensor tokens, const DeviceBatch& batch) const override;

 private:
  struct Step {
    bool is_dense = false;  // true: a dense map; false: normalizes
    Linear dense;
    Activation activation = Activation::kIdentity;
  };
  explicit SentenceHead(Pooling pooling) : pooling_(pooling) {}

  const Pooling pooling_;
  std::vector<Step> steps_;
};

// The logits of a row, one for each label, from its first token or the mean of all tokens, and the
// scores computed from the logits. Thread-safe.
class ClassifierHead final : public EncoderHead {
 public:
  // Faults of `weights` stay in `weights`.
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

// The score of a row by its last token: how much larger the logit of "yes" is than the one of "no",
// and the score that follows from it. By a sigmoid that is the likelihood of "yes" among the two.
// Only two rows of the head for words are in memory. Thread-safe.
class YesOrNoHead final : public EncoderHead {
 public:
  // Faults of `weights` stay in `weights`.
  YesOrNoHead(const EncoderConfig& config, EncoderWeights* weights);

  std::vector<at::Tensor> Run(at::Tensor tokens, const DeviceBatch& batch) const override;

 private:
  const Activation score_;
  at::Tensor difference_;  // between the two words, [hidden, 1]
};

}  // namespace mpsd
