#include "worker/model/encoder/modern_bert_encoder.h"

#include "ATen/TensorOperators.h"
#include "ATen/ops/embedding.h"
#include "absl/strings/str_cat.h"
#include "worker/model/encoder/attention.h"

namespace mpsd {

ModernBertEncoder::ModernBertEncoder(const EncoderConfig& config, EncoderWeights* weights,
                                     c10::Device device)
    : config_(config) {
  words_ = weights->Take("embeddings.tok_embeddings.weight",
                         {config.vocabulary_size, config.hidden_size});
  embedding_norm_ = TakeNorm("embeddings.norm", weights);
  for (int64_t layer = 0; layer < config.layer_count && weights->ok(); ++layer) {
    layers_.push_back(TakeLayer(layer, weights));
  }
  final_norm_ = TakeNorm("final_norm", weights);
  const RotaryConfig& rotary = config.rotary;
  const int64_t head_size = config.hidden_size / config.head_count;
  wide_frequencies_ = RotationFrequencies(rotary.theta, rotary.stretch, head_size, device);
  near_frequencies_ = RotationFrequencies(rotary.local_theta, rotary.stretch, head_size, device);
}

Norm ModernBertEncoder::TakeNorm(const std::string& name, EncoderWeights* weights) const {
  return Norm::Take(weights, name, config_.hidden_size, config_.layer_norm_epsilon,
                    /*whole=*/false, config_.rotary.has_norm_bias);
}

ModernBertEncoder::Layer ModernBertEncoder::TakeLayer(int64_t number,
                                                      EncoderWeights* weights) const {
  const RotaryConfig& rotary = config_.rotary;
  const int64_t hidden = config_.hidden_size;
  const int64_t inner = config_.intermediate_size;
  const std::string prefix = absl::StrCat("layers.", number, ".");
  const auto linear = [&](const char* name, int64_t from, int64_t to, bool has_bias) {
    return Linear::Take(weights, prefix + name, from, to, /*whole=*/false, has_bias);
  };
  Layer layer;
  layer.is_local = rotary.is_local[static_cast<size_t>(number)];
  if (number > 0) layer.attention_norm = TakeNorm(prefix + "attn_norm", weights);
  layer.query_key_value = linear("attn.Wqkv", hidden, 3 * hidden, rotary.has_attention_bias);
  layer.attention_output = linear("attn.Wo", hidden, hidden, rotary.has_attention_bias);
  layer.up_norm = TakeNorm(prefix + "mlp_norm", weights);
  layer.up = linear("mlp.Wi", hidden, 2 * inner, rotary.has_up_bias);
  layer.down = linear("mlp.Wo", inner, hidden, rotary.has_down_bias);
  return layer;
}

at::Tensor ModernBertEncoder::Run(const DeviceBatch& batch) const {
  const HeadLayout heads = {config_.head_count, config_.head_count};
  const at::ScalarType type = words_.scalar_type();
  const Attention wide(batch, heads, nullptr, Sight(), type);
  const Attention near(batch, heads, nullptr, {config_.rotary.reach}, type);
  const Rotation wide_rotation(batch.positions(), wide_frequencies_);
  const Rotation near_rotation(batch.positions(), near_frequencies_);
  at::Tensor x = embedding_norm_(at::embedding(words_, batch.ids()));
  for (const Layer& layer : layers_) {
    const at::Tensor query_key_value =
        layer.query_key_value(layer.attention_norm.has_value() ? (*layer.attention_norm)(x) : x);
    (layer.is_local ? near_rotation : wide_rotation).Turn(query_key_value, heads.turned());
    x.add_(layer.attention_output((layer.is_local ? near : wide)(query_key_value)));
    x.add_(layer.down(ActivateGate(config_.activation, layer.up(layer.up_norm(x)))));
  }
  return final_norm_(x);
}

void ModernBertEncoder::Count(Census* census) const {
  census->known = true;
  for (const char* name : {"aten::embedding", "aten::layer_norm", "aten::layer_norm"}) {
    CountOperator(name, census);
  }
  for (const Layer& layer : layers_) {
    CountOperator("aten::scaled_dot_product_attention", census);
    for (int i = 0; i < 4; ++i) CountOperator("aten::addmm", census);
    const int norms = layer.attention_norm.has_value() ? 2 : 1;
    for (int i = 0; i < norms; ++i) CountOperator("aten::layer_norm", census);
    census->operators += 12;  // two sums, the rotation's eight, the activation and its product
  }
}

}  // namespace mpsd
