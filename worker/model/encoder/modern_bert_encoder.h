// ModernBertEncoder: the layers of ModernBERT.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ATen/core/TensorBody.h"
#include "proto/link/census.h"
#include "worker/model/encoder/batch/device_batch.h"
#include "worker/model/encoder/config/encoder_config.h"
#include "worker/model/encoder/encoder.h"
#include "worker/model/encoder/layers.h"
#include "worker/model/encoder/weights/encoder_weights.h"

namespace mpsd {

// Normalizes before each step. Positions are rotations. Most layers are local: their tokens see
// only near tokens:
//
//   x = norm(word)
//   each layer:  x += attention(norm(x)),  (a, b) = up(norm(x)),  x += down(activation(a) * b)
//   at last      norm(x)
//
// The first layer's attention has no norm. RotaryConfig says which layers are local, and both
// kinds' angles. Owned by EncoderModel. Thread-safe, as Encoder says.
class ModernBertEncoder final : public Encoder {
 public:
  // A fault stays in `weights`; the encoder is unusable then.
  ModernBertEncoder(const EncoderConfig& config, EncoderWeights* weights, c10::Device device);

  // REQUIRES: PackTokens() made the batch with the same config, so ids lie in the table.
  at::Tensor Run(const DeviceBatch& batch) const override;
  void Count(Census* census) const override;

 private:
  struct Layer {
    bool is_local = false;
    std::optional<Norm> attention_norm;
    Linear query_key_value;
    Linear attention_output;
    Norm up_norm;
    Linear up;  // to both halves
    Linear down;
  };
  Layer TakeLayer(int64_t number, EncoderWeights* weights) const;
  Norm TakeNorm(const std::string& name, EncoderWeights* weights) const;

  const EncoderConfig config_;
  at::Tensor words_;
  at::Tensor wide_frequencies_;
  at::Tensor near_frequencies_;  // for local layers
  Norm embedding_norm_;
  std::vector<Layer> layers_;
  Norm final_norm_;
};

}  // namespace mpsd
