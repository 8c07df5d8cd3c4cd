// BertEncoder: the layers of BERT and related families.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ATen/core/TensorBody.h"
#include "proto/link/census.h"
#include "worker/model/encoder/attention.h"
#include "worker/model/encoder/batch/device_batch.h"
#include "worker/model/encoder/config/encoder_config.h"
#include "worker/model/encoder/encoder.h"
#include "worker/model/encoder/layers.h"
#include "worker/model/encoder/weights/encoder_weights.h"

namespace mpsd {

// Normalizes after each sum:
//
//   x = norm(word + position + type)
//   each layer:  x = norm(x + attention(x)),  x = norm(x + down(activation(up(x))))
//
// The config covers the families' differences. Owned by EncoderModel. Thread-safe, as Encoder says.
class BertEncoder final : public Encoder {
 public:
  // A fault stays in `weights`; the encoder is unusable then.
  BertEncoder(const EncoderConfig& config, EncoderWeights* weights);

  // REQUIRES: PackTokens() made the batch with the same config, so ids, types and positions lie in
  // the tables.
  at::Tensor Run(const DeviceBatch& batch) const override;
  void Count(Census* census) const override;

 private:
  struct Layer {
    Linear query_key_value;  // three matrices of the file as one
    Linear attention_output;
    Norm attention_norm;
    Linear up;
    Linear down;
    Norm output_norm;
  };
  Layer TakeLayer(int64_t number, EncoderWeights* weights) const;
  at::Tensor Embed(const DeviceBatch& batch) const;

  const EncoderConfig config_;
  at::Tensor words_;
  at::Tensor positions_;
  at::Tensor types_;  // undefined: the family has none
  Norm embedding_norm_;
  std::vector<Layer> layers_;
  std::unique_ptr<const DistanceBias> distance_bias_;  // null: the family has none
};

}  // namespace mpsd
