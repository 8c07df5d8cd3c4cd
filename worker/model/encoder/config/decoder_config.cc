#include <cmath>

#include "absl/strings/str_cat.h"
#include "worker/model/encoder/config/config_fields.h"
#include "worker/model/encoder/config/family_config.h"
#include "worker/model/encoder/config/rotation_config.h"

namespace mpsd {
namespace {

using Json = nlohmann::json;

constexpr double kQwen3Theta = 10'000;
constexpr double kGemma3Theta = 1'000'000;
constexpr double kGemma3LocalTheta = 10'000;
constexpr int64_t kUsualLocalPattern = 6;

absl::Status ReadHeads(const Json& json, EncoderConfig* config) {
  DecoderConfig* decoder = &config->decoder;
  absl::Status status = ReadNumber(json, "head_dim", 1, kMaxConfigSize, &decoder->head_size);
  status.Update(ReadNumber(json, "num_key_value_heads", 1, config->head_count,
                           &decoder->key_value_head_count));
  if (!status.ok()) return status;
  if (config->head_count % decoder->key_value_head_count != 0) {
    return Refused("'num_attention_heads' must be a multiple of 'num_key_value_heads'");
  }
  decoder->score_scale = 1 / std::sqrt(static_cast<double>(decoder->head_size));
  status.Update(CheckHeadIsEven(decoder->head_size));
  status.Update(ReadFlag(json, "attention_bias", &config->rotary.has_attention_bias));
  status.Update(ReadFlag(json, "tie_word_embeddings", &decoder->ties_words));
  return status;
}

absl::Status ReadQwen3Keys(const Json& json, EncoderConfig* config) {
  config->decoder.is_causal = true;
  config->rotary.theta = kQwen3Theta;
  config->rotary.is_local.assign(static_cast<size_t>(config->layer_count), false);
  absl::Status status = CheckFixed(json, {{"use_sliding_window", false}});
  status.Update(ReadRotation(json, "rope_theta", config->decoder.head_size, &config->rotary));
  return status;
}

absl::Status ReadGemma3Keys(const Json& json, EncoderConfig* config) {
  RotaryConfig* rotary = &config->rotary;
  rotary->theta = kGemma3Theta;
  rotary->local_theta = kGemma3LocalTheta;
  if (Find(json, "use_bidirectional_attention") == nullptr) {
    return Refused("'use_bidirectional_attention' must be true; mpsd serves encoders");
  }
  absl::Status status = CheckFixed(json, {{"use_bidirectional_attention", true},
                                          {"attn_logit_softcapping", nullptr},
                                          {"rope_scaling", nullptr}});
  int64_t window = 0;
  int64_t every = kUsualLocalPattern;
  int64_t scalar = config->decoder.head_size;
  status.Update(ReadNumber(json, "sliding_window", 2, kMaxConfigSize, &window));
  status.Update(ReadNumber(json, "query_pre_attn_scalar", 1, kMaxConfigSize, &scalar));
  if (Find(json, "sliding_window_pattern") != nullptr) {
    status.Update(ReadNumber(json, "sliding_window_pattern", 1, kMaxConfigSize, &every));
  }
  rotary->reach = window / 2;
  config->decoder.score_scale = 1 / std::sqrt(static_cast<double>(scalar));
  status.Update(ReadLocalLayers(json, config->layer_count, every, /*first=*/every - 1, rotary));
  status.Update(ReadTheta(json, "full_attention", "rope_theta", &rotary->theta));
  status.Update(ReadTheta(json, "sliding_attention", "rope_local_base_freq", &rotary->local_theta));
  return status;
}

}  // namespace

absl::Status ReadDecoderConfig(const Json& json, EncoderConfig* config) {
  absl::Status status = ReadHeads(json, config);
  if (!status.ok()) return status;
  return config->family == EncoderFamily::kQwen3 ? ReadQwen3Keys(json, config)
                                                 : ReadGemma3Keys(json, config);
}

}  // namespace mpsd
