// DecoderEncoder: the layers of Qwen 3 and Gemma 3, decoders that became encoders.
#pragma once

#include <optional>
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

// Normalizes before each step, by mean square. Several queries share a key and a value. Each head's
// queries and keys are normalized before they are turned:
//
//   x = word
//   each layer:  x += attention(norm(x)),  (a, b) = up(norm(x)),  x += down(activation(a) * b)
//   at last      norm(x)
//
// Qwen 3's tokens see only tokens before them. Gemma 3's see both sides, but in local layers only
// near ones. Gemma 3 scales its words by the root of their size, and normalizes each step's result
// before adding it. Owned by EncoderModel. Thread-safe, as Encoder says.
class DecoderEncoder final : public Encoder {
 public:
  // A fault stays in `weights`; the encoder is unusable then.
  DecoderEncoder(const EncoderConfig& config, EncoderWeights* weights, c10::Device device);

  // REQUIRES: PackTokens() made the batch with the same config, so ids lie in the table.
  at::Tensor Run(const DeviceBatch& batch) const override;
  void Count(Census* census) const override;

 private:
  struct Layer {
    bool is_local = false;
    Norm attention_norm;
    Linear query_key_value;
    Norm query_norm;
    Norm key_norm;
    Linear attention_output;
    std::optional<Norm> seen_norm;  // for the attention's result
    Norm up_norm;
    Linear up;  // to the gate and the gated numbers
    Linear down;
    std::optional<Norm> made_norm;  // for the gated maps' result
  };
  bool is_gemma() const { return config_.family == EncoderFamily::kGemma3; }
  Norm TakeNorm(const std::string& name, int64_t size, EncoderWeights* weights) const;
  Layer TakeLayer(int64_t number, EncoderWeights* weights) const;
  void NormalizeHeads(const Layer& layer, const at::Tensor& query_key_value) const;

  const EncoderConfig config_;
  const HeadLayout heads_;
  at::Tensor words_;
  at::Tensor wide_frequencies_;
  at::Tensor near_frequencies_;  // undefined: none is local
  std::vector<Layer> layers_;
  Norm final_norm_;
};

}  // namespace mpsd
