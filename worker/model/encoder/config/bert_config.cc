#include "absl/strings/str_cat.h"
#include "worker/model/encoder/config/config_fields.h"
#include "worker/model/encoder/config/family_config.h"

namespace mpsd {
namespace {

using Json = nlohmann::json;

constexpr int64_t kDistanceBuckets = 32;  // MPNet's; transformers computes no other

absl::Status CheckPositions(const Json& json) {
  const Json* positions = Find(json, "position_embedding_type");
  if (positions == nullptr || *positions == "absolute") return absl::OkStatus();
  return Refused(
      absl::StrCat("'position_embedding_type' must be \"absolute\", not ", Shown(*positions)));
}

absl::Status ReadFirstPosition(const Json& json, EncoderConfig* config) {
  absl::Status status;
  config->pad_token = 1;
  if (Find(json, "pad_token_id") != nullptr) {
    status = ReadNumber(json, "pad_token_id", 0, config->vocabulary_size - 1, &config->pad_token);
  }
  if (config->family == EncoderFamily::kMpnet && config->pad_token != 1) {
    return Refused("'pad_token_id' must be 1: transformers counts MPNet's positions from there");
  }
  config->first_position = config->pad_token + 1;
  if (status.ok() && config->max_tokens() < 1) {
    return Refused("'max_position_embeddings' leaves no position behind 'pad_token_id'");
  }
  return status;
}

}  // namespace

absl::Status ReadBertConfig(const Json& json, EncoderConfig* config) {
  const bool is_mpnet = config->family == EncoderFamily::kMpnet;
  const bool is_distil = config->family == EncoderFamily::kDistilBert;
  absl::Status status = CheckPositions(json);
  if (!is_mpnet && !is_distil) {
    status.Update(
        ReadNumber(json, "type_vocab_size", 1, kMaxConfigSize, &config->token_type_count));
  }
  if (is_mpnet) {
    config->distance_buckets = kDistanceBuckets;
    const Json* buckets = Find(json, "relative_attention_num_buckets");
    if (buckets != nullptr && *buckets != kDistanceBuckets) {
      status.Update(
          Refused(absl::StrCat("'relative_attention_num_buckets' must be ", kDistanceBuckets)));
    }
  }
  const bool counts_from_pad = is_mpnet || (!is_distil && config->family != EncoderFamily::kBert);
  if (counts_from_pad && status.ok()) status = ReadFirstPosition(json, config);
  return status;
}

}  // namespace mpsd
