#include "worker/model/encoder/bert_encoder.h"

#include "ATen/TensorOperators.h"
#include "ATen/ops/embedding.h"
#include "absl/strings/str_cat.h"
#include "worker/model/encoder/encoder_names.h"

namespace mpsd {

BertEncoder::BertEncoder(const EncoderConfig& config, EncoderWeights* weights) : config_(config) {
  const int64_t hidden = config.hidden_size;
  words_ = weights->Take("embeddings.word_embeddings.weight", {config.vocabulary_size, hidden});
  positions_ =
      weights->Take("embeddings.position_embeddings.weight", {config.position_count, hidden});
  if (config.token_type_count > 0) {
    types_ =
        weights->Take("embeddings.token_type_embeddings.weight", {config.token_type_count, hidden});
  }
  embedding_norm_ = Norm::Take(weights, "embeddings.LayerNorm", hidden, config.layer_norm_epsilon);
  for (int64_t layer = 0; layer < config.layer_count && weights->ok(); ++layer) {
    layers_.push_back(TakeLayer(layer, weights));
  }
  if (config.distance_buckets > 0) {
    const at::Tensor table = weights->Take("encoder.relative_attention_bias.weight",
                                           {config.distance_buckets, config.head_count});
    if (!weights->ok()) return;
    distance_bias_ =
        std::make_unique<const DistanceBias>(table, config.distance_buckets, config.max_tokens());
  }
  weights->Ignore("embeddings.position_ids");  // the numbers 0, 1, 2, …
}

BertEncoder::Layer BertEncoder::TakeLayer(int64_t number, EncoderWeights* weights) const {
  const EncoderNames& names = NamesOf(config_.family);
  const int64_t hidden = config_.hidden_size;
  const auto name = [&](const char* part) {
    return absl::StrCat(names.layers, ".", number, ".", part);
  };
  Layer layer;
  layer.query_key_value = Linear::TakeJoined(
      weights, hidden,
      {{name(names.query), hidden}, {name(names.key), hidden}, {name(names.value), hidden}});
  layer.attention_output = Linear::Take(weights, name(names.attention_output), hidden, hidden);
  layer.attention_norm =
      Norm::Take(weights, name(names.attention_norm), hidden, config_.layer_norm_epsilon);
  layer.up = Linear::Take(weights, name(names.up), hidden, config_.intermediate_size);
  layer.down = Linear::Take(weights, name(names.down), config_.intermediate_size, hidden);
  layer.output_norm =
      Norm::Take(weights, name(names.output_norm), hidden, config_.layer_norm_epsilon);
  return layer;
}

at::Tensor BertEncoder::Embed(const DeviceBatch& batch) const {
  at::Tensor x = at::embedding(words_, batch.ids());
  x.add_(at::embedding(positions_, batch.positions()));
  if (types_.defined()) {
    x.add_(batch.types().defined() ? at::embedding(types_, batch.types()) : types_[0]);
  }
  return embedding_norm_(x);
}

at::Tensor BertEncoder::Run(const DeviceBatch& batch) const {
  const Attention attention(batch, {config_.head_count, config_.head_count}, distance_bias_.get(),
                            Sight(), words_.scalar_type());
  at::Tensor x = Embed(batch);
  for (const Layer& layer : layers_) {
    const at::Tensor seen = layer.attention_output(attention(layer.query_key_value(x)));
    x = layer.attention_norm(x.add_(seen));
    const at::Tensor made = layer.down(Activate(config_.activation, layer.up(x)));
    x = layer.output_norm(x.add_(made));
  }
  return x;
}

void BertEncoder::Count(Census* census) const {
  census->known = true;
  for (const char* name : {"aten::embedding", "aten::embedding", "aten::layer_norm"}) {
    CountOperator(name, census);
  }
  if (types_.defined()) CountOperator("aten::embedding", census);
  for (size_t layer = 0; layer < layers_.size(); ++layer) {
    CountOperator("aten::scaled_dot_product_attention", census);
    for (int i = 0; i < 4; ++i) CountOperator("aten::addmm", census);
    for (int i = 0; i < 2; ++i) CountOperator("aten::layer_norm", census);
    census->operators += 3;  // two sums and the activation
  }
}

}  // namespace mpsd
