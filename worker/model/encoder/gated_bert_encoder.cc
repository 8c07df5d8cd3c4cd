#include "worker/model/encoder/gated_bert_encoder.h"

#include <string>

#include "ATen/TensorOperators.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/embedding.h"
#include "ATen/ops/zeros.h"
#include "absl/strings/str_cat.h"
#include "worker/model/encoder/attention.h"
#include "worker/model/encoder/encoder_names.h"

namespace mpsd {
namespace {

// A file may have both in one tensor, the value first.
Linear TakeValueAndGate(const std::string& name, const EncoderConfig& config,
                        EncoderWeights* weights) {
  const int64_t inner = config.intermediate_size;
  const at::Tensor both = weights->Take(name + ".weight", {2 * inner, config.hidden_size});
  if (!weights->ok()) return {};
  return Linear(weights, at::cat({both.narrow(0, inner, inner), both.narrow(0, 0, inner)}),
                at::zeros({2 * inner}, both.options()));
}

}  // namespace

GatedBertEncoder::GatedBertEncoder(const EncoderConfig& config, EncoderWeights* weights,
                                   c10::Device device)
    : config_(config) {
  const int64_t hidden = config.hidden_size;
  words_ = weights->Take("embeddings.word_embeddings.weight", {config.vocabulary_size, hidden});
  if (config.token_type_count > 0) {
    types_ =
        weights->Take("embeddings.token_type_embeddings.weight", {config.token_type_count, hidden});
  }
  embedding_norm_ =
      Norm::Take(weights, NamesOf(config.family).embedding_norm, hidden, config.layer_norm_epsilon);
  for (int64_t layer = 0; layer < config.layer_count && weights->ok(); ++layer) {
    layers_.push_back(TakeLayer(layer, weights));
  }
  frequencies_ = RotationFrequencies(config.rotary.theta, config.rotary.stretch,
                                     hidden / config.head_count, device);
}

GatedBertEncoder::Layer GatedBertEncoder::TakeLayer(int64_t number, EncoderWeights* weights) const {
  const EncoderNames& names = NamesOf(config_.family);
  const RotaryConfig& rotary = config_.rotary;
  const int64_t hidden = config_.hidden_size;
  const int64_t inner = config_.intermediate_size;
  const auto name = [&](const std::string& part) {
    return absl::StrCat(names.layers, ".", number, ".", part);
  };
  const auto linear = [&](const char* part, int64_t from, int64_t to, bool has_bias) {
    return Linear::Take(weights, name(part), from, to, /*whole=*/false, has_bias);
  };
  const auto norm = [&](const char* part) {
    return Norm::Take(weights, name(part), hidden, config_.layer_norm_epsilon);
  };
  Layer layer;
  layer.query_key_value = linear(names.query, hidden, 3 * hidden, rotary.has_attention_bias);
  layer.attention_output =
      linear(names.attention_output, hidden, hidden, rotary.has_attention_bias);
  layer.attention_norm = norm(names.attention_norm);
  const std::string gate = names.gate;
  layer.up = gate.empty() ? TakeValueAndGate(name(names.up), config_, weights)
                          : Linear::TakeJoined(weights, hidden,
                                               {{name(gate), inner}, {name(names.up), inner}},
                                               rotary.has_up_bias);
  layer.down = linear(names.down, inner, hidden, rotary.has_down_bias);
  layer.output_norm = norm(names.output_norm);
  return layer;
}

at::Tensor GatedBertEncoder::Embed(const DeviceBatch& batch) const {
  at::Tensor x = at::embedding(words_, batch.ids());
  if (types_.defined()) {
    x.add_(batch.types().defined() ? at::embedding(types_, batch.types()) : types_[0]);
  }
  return embedding_norm_(x);
}

at::Tensor GatedBertEncoder::Run(const DeviceBatch& batch) const {
  const HeadLayout heads = {config_.head_count, config_.head_count};
  const Attention attention(batch, heads, nullptr, Sight(), words_.scalar_type());
  const Rotation rotation(batch.positions(), frequencies_);
  at::Tensor x = Embed(batch);
  for (const Layer& layer : layers_) {
    const at::Tensor query_key_value = layer.query_key_value(x);
    rotation.Turn(query_key_value, heads.turned());
    x = layer.attention_norm(x.add_(layer.attention_output(attention(query_key_value))));
    const at::Tensor made = layer.down(ActivateGate(config_.activation, layer.up(x)));
    x = layer.output_norm(x.add_(made));
  }
  return x;
}

void GatedBertEncoder::Count(Census* census) const {
  census->known = true;
  for (const char* name : {"aten::embedding", "aten::layer_norm"}) CountOperator(name, census);
  if (types_.defined()) CountOperator("aten::embedding", census);
  for (size_t layer = 0; layer < layers_.size(); ++layer) {
    CountOperator("aten::scaled_dot_product_attention", census);
    for (int i = 0; i < 4; ++i) CountOperator("aten::addmm", census);
    for (int i = 0; i < 2; ++i) CountOperator("aten::layer_norm", census);
    census->operators += 12;  // two sums, the rotation's eight, the activation and its product
  }
}

}  // namespace mpsd
