#include <string>
#include <utility>

#include "worker/model/encoder/config/config_fields.h"
#include "worker/model/encoder/config/family_config.h"
#include "worker/model/encoder/config/rotation_config.h"

namespace mpsd {
namespace {

using Json = nlohmann::json;

constexpr int64_t kUsualGlobalEvery = 3;
constexpr int64_t kUsualWindow = 128;

absl::Status ReadWindow(const Json& json, EncoderConfig* config) {
  int64_t every = kUsualGlobalEvery;
  int64_t window = kUsualWindow;
  absl::Status status;
  if (Find(json, "global_attn_every_n_layers") != nullptr) {
    status = ReadNumber(json, "global_attn_every_n_layers", 1, kMaxConfigSize, &every);
  }
  if (Find(json, "local_attention") != nullptr) {
    status.Update(ReadNumber(json, "local_attention", 2, kMaxConfigSize, &window));
  }
  config->rotary.reach = window / 2;
  status.Update(ReadLocalLayers(json, config->layer_count, every, /*first=*/0, &config->rotary));
  return status;
}

absl::Status ReadHeadKeys(const Json& json, RotaryConfig* rotary) {
  const std::string pooling = TextAt(json, "classifier_pooling");
  rotary->head_is_mean = pooling == "mean";
  if (Find(json, "classifier_pooling") != nullptr && pooling != "cls" && pooling != "mean") {
    return Refused("'classifier_pooling' must be \"cls\" or \"mean\"");
  }
  return ReadActivation(json, "classifier_activation", &rotary->head_activation);
}

}  // namespace

absl::Status ReadModernBertConfig(const Json& json, EncoderConfig* config) {
  RotaryConfig* rotary = &config->rotary;
  absl::Status status = CheckHeadIsEven(config->hidden_size / config->head_count);
  if (!status.ok()) return status;
  if (Find(json, "rope_scaling") != nullptr) return Refused("'rope_scaling' is not supported");
  rotary->theta = 160'000;
  rotary->local_theta = 10'000;
  status.Update(ReadWindow(json, config));
  status.Update(ReadTheta(json, "full_attention", "global_rope_theta", &rotary->theta));
  const bool has_no_local_base =
      json.contains("local_rope_theta") && Find(json, "local_rope_theta") == nullptr;
  if (has_no_local_base) rotary->local_theta = rotary->theta;
  status.Update(ReadTheta(json, "sliding_attention", "local_rope_theta", &rotary->local_theta));
  for (const auto& [key, flag] :
       {std::pair("attention_bias", &rotary->has_attention_bias),
        std::pair("mlp_bias", &rotary->has_up_bias), std::pair("norm_bias", &rotary->has_norm_bias),
        std::pair("classifier_bias", &rotary->has_head_bias)}) {
    status.Update(ReadFlag(json, key, flag));
  }
  rotary->has_down_bias = rotary->has_up_bias;
  status.Update(ReadHeadKeys(json, rotary));
  return status;
}

}  // namespace mpsd
