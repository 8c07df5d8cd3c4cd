// GatedBertEncoder: the layers of NomicBERT and GTE.
#pragma once

#include <vector>

#include "ATen/core/TensorBody.h"
#include "proto/link/census.h"
#include "worker/model/encoder/batch/device_batch.h"
#include "worker/model/encoder/config/encoder_config.h"
#include "worker/model/encoder/encoder.h"
#include "worker/model/encoder/layers.h"
#include "worker/model/encoder/weights/encoder_weights.h"

namespace mpsd {

// Normalizes after each sum, as BERT does. Positions are rotations, and the maps between are gated:
//
//   x = norm(word + type)
//   each layer:  x = norm(x + attention(x))
//                (a, b) = up(x),  x = norm(x + down(activation(a) * b))
//
// The two families differ only in their files. Owned by EncoderModel. Thread-safe, as Encoder says.
class GatedBertEncoder final : public Encoder {
 public:
  // A fault stays in `weights`; the encoder is unusable then.
  GatedBertEncoder(const EncoderConfig& config, EncoderWeights* weights, c10::Device device);

  // REQUIRES: PackTokens() made the batch with the same config, so ids lie in the tables.
  at::Tensor Run(const DeviceBatch& batch) const override;
  void Count(Census* census) const override;

 private:
  struct Layer {
    Linear query_key_value;
    Linear attention_output;
    Norm attention_norm;
    Linear up;  // to the gate and the gated numbers
    Linear down;
    Norm output_norm;
  };
  Layer TakeLayer(int64_t number, EncoderWeights* weights) const;
  at::Tensor Embed(const DeviceBatch& batch) const;

  const EncoderConfig config_;
  at::Tensor words_;
  at::Tensor types_;  // undefined: none
  at::Tensor frequencies_;
  Norm embedding_norm_;
  std::vector<Layer> layers_;
};

}  // namespace mpsd
