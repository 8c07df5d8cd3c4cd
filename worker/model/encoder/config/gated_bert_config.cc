#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "worker/model/encoder/config/config_fields.h"
#include "worker/model/encoder/config/family_config.h"
#include "worker/model/encoder/config/rotation_config.h"

namespace mpsd {
namespace {

using Json = nlohmann::json;

constexpr double kNomicTheta = 1'000;
constexpr double kGteTheta = 160'000;
constexpr int64_t kTrainedPositions = 2048;

absl::Status ReadFirstNomicKeys(const Json& json, EncoderConfig* config) {
  RotaryConfig* rotary = &config->rotary;
  absl::Status status =
      CheckTold(json, {"layer_norm_epsilon", "rotary_emb_base", "rotary_emb_fraction"});
  status.Update(CheckFixed(json, {{"prenorm", false},
                                  {"parallel_block", false},
                                  {"use_rms_norm", false},
                                  {"causal", false},
                                  {"rotary_emb_interleaved", false},
                                  {"rotary_emb_fraction", 1.0},
                                  {"rotary_emb_scale_base", nullptr},
                                  {"scale_attn_weights", true},
                                  {"scale_attn_by_inverse_layer_idx", false},
                                  {"moe_every_n_layers", 0}}));
  for (const auto& [key, flag] : {std::pair("qkv_proj_bias", &rotary->has_attention_bias),
                                  std::pair("mlp_fc1_bias", &rotary->has_up_bias),
                                  std::pair("mlp_fc2_bias", &rotary->has_down_bias)}) {
    *flag = true;
    status.Update(ReadFlag(json, key, flag));
  }
  const std::string activation = TextAt(json, "activation_function");
  if (activation != "swiglu" && activation != "geglu") {
    status.Update(Refused("'activation_function' must be \"swiglu\" or \"geglu\""));
  }
  config->activation = activation == "geglu" ? Activation::kGelu : Activation::kSilu;
  // Beyond the trained positions, rotations would depend on the longest row of the batch.
  if (Find(json, "rotary_scaling_factor") != nullptr) {
    int64_t trained = kTrainedPositions;
    if (Find(json, "max_trained_positions") != nullptr) {
      status.Update(ReadNumber(json, "max_trained_positions", 1, kMaxConfigSize, &trained));
    }
    config->position_count = std::min(config->position_count, trained);
  }
  return status;
}

absl::Status ReadNomicKeys(const Json& json, EncoderConfig* config) {
  config->rotary.theta = kNomicTheta;
  const int64_t head_size = config->hidden_size / config->head_count;
  if (Find(json, "n_embd") != nullptr) {
    absl::Status status = ReadFirstNomicKeys(json, config);
    status.Update(ReadRotation(json, "rotary_emb_base", head_size, &config->rotary));
    return status;
  }
  absl::Status status = CheckFixed(json, {{"head_dim", head_size}});
  status.Update(ReadRotation(json, "rope_theta", head_size, &config->rotary));
  return status;
}

absl::Status ReadGteKeys(const Json& json, EncoderConfig* config) {
  const bool is_first = config->family == EncoderFamily::kNewGte;
  config->rotary.theta = is_first ? 0 : kGteTheta;
  config->rotary.has_attention_bias = true;
  config->rotary.has_down_bias = true;
  absl::Status status = CheckFixed(json, {{"position_embedding_type", "rope"},
                                          {"layer_norm_type", "layer_norm"},
                                          {"logn_attention_scale", false},
                                          {"logn_attention_clip1", false}});
  status.Update(
      ReadRotation(json, "rope_theta", config->hidden_size / config->head_count, &config->rotary));
  // GTE's first code takes 10,000, which fits no model; transformers takes another number.
  if (config->rotary.theta == 0) status.Update(Refused("'rope_theta' is missing"));
  return status;
}

}  // namespace

absl::Status ReadGatedBertConfig(const Json& json, EncoderConfig* config) {
  absl::Status status = CheckHeadIsEven(config->hidden_size / config->head_count);
  status.Update(ReadNumber(json, "type_vocab_size", 0, kMaxConfigSize, &config->token_type_count));
  status.Update(config->family == EncoderFamily::kNomicBert ? ReadNomicKeys(json, config)
                                                            : ReadGteKeys(json, config));
  return status;
}

}  // namespace mpsd
