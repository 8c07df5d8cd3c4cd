#include "worker/model/encoder/decoder_encoder.h"

#include <cmath>

#include "ATen/TensorOperators.h"
#include "ATen/ops/embedding.h"
#include "absl/strings/str_cat.h"

namespace mpsd {

DecoderEncoder::DecoderEncoder(const EncoderConfig& config, EncoderWeights* weights,
                               c10::Device device)
    : config_(config),
      heads_({config.head_count, config.decoder.key_value_head_count, config.decoder.score_scale}) {
  words_ = weights->Take("embed_tokens.weight", {config.vocabulary_size, config.hidden_size});
  for (int64_t layer = 0; layer < config.layer_count && weights->ok(); ++layer) {
    layers_.push_back(TakeLayer(layer, weights));
  }
  final_norm_ = TakeNorm("norm", config.hidden_size, weights);
  const RotaryConfig& rotary = config.rotary;
  const int64_t size = config.decoder.head_size;
  wide_frequencies_ = RotationFrequencies(rotary.theta, rotary.stretch, size, device);
  if (rotary.reach == 0) return;
  near_frequencies_ = RotationFrequencies(rotary.local_theta, rotary.stretch, size, device);
}

Norm DecoderEncoder::TakeNorm(const std::string& name, int64_t size,
                              EncoderWeights* weights) const {
  return Norm::TakeOfSquares(weights, name, size, config_.layer_norm_epsilon, is_gemma());
}

DecoderEncoder::Layer DecoderEncoder::TakeLayer(int64_t number, EncoderWeights* weights) const {
  const int64_t hidden = config_.hidden_size;
  const int64_t inner = config_.intermediate_size;
  const int64_t size = config_.decoder.head_size;
  const bool has_bias = config_.rotary.has_attention_bias;
  const auto name = [number](const char* part) {
    return absl::StrCat("layers.", number, ".", part);
  };
  const auto norm = [&](const char* part) { return TakeNorm(name(part), hidden, weights); };
  Layer layer;
  layer.is_local = config_.rotary.is_local[static_cast<size_t>(number)];
  layer.attention_norm = norm("input_layernorm");
  layer.query_key_value = Linear::TakeJoined(weights, hidden,
                                             {{name("self_attn.q_proj"), heads_.queries * size},
                                              {name("self_attn.k_proj"), heads_.keys * size},
                                              {name("self_attn.v_proj"), heads_.keys * size}},
                                             has_bias);
  layer.query_norm = TakeNorm(name("self_attn.q_norm"), size, weights);
  layer.key_norm = TakeNorm(name("self_attn.k_norm"), size, weights);
  layer.attention_output = Linear::Take(weights, name("self_attn.o_proj"), heads_.queries * size,
                                        hidden, /*whole=*/false, has_bias);
  if (is_gemma()) layer.seen_norm = norm("post_attention_layernorm");
  layer.up_norm = norm(is_gemma() ? "pre_feedforward_layernorm" : "post_attention_layernorm");
  layer.up = Linear::TakeJoined(weights, hidden,
                                {{name("mlp.gate_proj"), inner}, {name("mlp.up_proj"), inner}},
                                /*has_bias=*/false);
  layer.down = Linear::Take(weights, name("mlp.down_proj"), inner, hidden, /*whole=*/false,
                            /*has_bias=*/false);
  if (is_gemma()) layer.made_norm = norm("post_feedforward_layernorm");
  return layer;
}

void DecoderEncoder::NormalizeHeads(const Layer& layer, const at::Tensor& query_key_value) const {
  const at::Tensor heads =
      query_key_value.view({query_key_value.size(0), heads_.all(), config_.decoder.head_size});
  const at::Tensor queries = heads.narrow(1, 0, heads_.queries);
  const at::Tensor keys = heads.narrow(1, heads_.queries, heads_.keys);
  queries.copy_(layer.query_norm(queries));
  keys.copy_(layer.key_norm(keys));
}

at::Tensor DecoderEncoder::Run(const DeviceBatch& batch) const {
  const RotaryConfig& rotary = config_.rotary;
  const at::ScalarType type = words_.scalar_type();
  const Sight all = {/*reach=*/0, config_.decoder.is_causal};
  const Attention wide(batch, heads_, nullptr, all, type);
  const Rotation wide_rotation(batch.positions(), wide_frequencies_);
  std::optional<Attention> near;
  std::optional<Rotation> near_rotation;
  if (rotary.reach > 0) {
    near.emplace(batch, heads_, nullptr, Sight{rotary.reach}, type);
    near_rotation.emplace(batch.positions(), near_frequencies_);
  }
  at::Tensor x = at::embedding(words_, batch.ids());
  if (is_gemma()) x.mul_(std::sqrt(static_cast<double>(config_.hidden_size)));
  for (const Layer& layer : layers_) {
    const at::Tensor query_key_value = layer.query_key_value(layer.attention_norm(x));
    NormalizeHeads(layer, query_key_value);
    (layer.is_local ? *near_rotation : wide_rotation).Turn(query_key_value, heads_.turned());
    const at::Tensor seen =
        layer.attention_output((layer.is_local ? *near : wide)(query_key_value));
    x.add_(layer.seen_norm.has_value() ? (*layer.seen_norm)(seen) : seen);
    const at::Tensor made =
        layer.down(ActivateGate(config_.activation, layer.up(layer.up_norm(x))));
    x.add_(layer.made_norm.has_value() ? (*layer.made_norm)(made) : made);
  }
  return final_norm_(x);
}

void DecoderEncoder::Count(Census* census) const {
  census->known = true;
  for (const char* name : {"aten::embedding", "aten::rms_norm"}) CountOperator(name, census);
  for (size_t layer = 0; layer < layers_.size(); ++layer) {
    CountOperator("aten::scaled_dot_product_attention", census);
    for (int i = 0; i < 4; ++i) CountOperator("aten::addmm", census);
    for (int i = 0; i < (is_gemma() ? 6 : 4); ++i) CountOperator("aten::rms_norm", census);
    // Two sums, the rotation's eight, two copies, the activation and its product.
    census->operators += 14;
  }
}

}  // namespace mpsd
