#include "worker/tools/bert_config.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace mpsd {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMaxSize = 1 << 24;
constexpr int64_t kMaxLayers = 256;

absl::Status ReadNumber(const Json& json, const char* key, int64_t maximum, int64_t* number) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number_unsigned() || *found < 1 || *found > maximum) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", key, "' must be a whole number from 1 to ", maximum));
  }
  *number = found->get<int64_t>();
  return absl::OkStatus();
}

absl::Status RequireText(const Json& json, const char* key, const char* wanted, bool required) {
  const auto found = json.find(key);
  if (found == json.end() && !required) return absl::OkStatus();
  if (found != json.end() && found->is_string() && *found == wanted) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("'", key, "' must be \"", wanted, "\"; this importer knows no other"));
}

// A head above the encoder would be lost: a reranker would serve as an encoder of sentences.
absl::Status CheckHeadless(const Json& json) {
  const auto found = json.find("architectures");
  if (found == json.end() || found->is_null()) return absl::OkStatus();
  if (*found == Json::array({"BertModel"})) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("'architectures' must be [\"BertModel\"], not ",
                                                 found->dump(),
                                                 "; this importer knows no other, and no head"));
}

absl::Status CheckArchitecture(const Json& json) {
  absl::Status status = RequireText(json, "model_type", "bert", true);
  if (status.ok()) status = CheckHeadless(json);
  if (status.ok()) status = RequireText(json, "hidden_act", "gelu", true);
  if (status.ok()) status = RequireText(json, "position_embedding_type", "absolute", false);
  return status;
}

absl::Status ReadNumbers(const Json& json, BertConfig* config) {
  struct Field {
    const char* key;
    int64_t maximum;
    int64_t* number;
  };
  const Field fields[] = {
      {"hidden_size", kMaxSize, &config->hidden_size},
      {"num_hidden_layers", kMaxLayers, &config->layer_count},
      {"num_attention_heads", kMaxSize, &config->head_count},
      {"intermediate_size", kMaxSize, &config->intermediate_size},
      {"vocab_size", kMaxSize, &config->vocabulary_size},
      {"max_position_embeddings", kMaxSize, &config->position_count},
      {"type_vocab_size", kMaxSize, &config->token_type_count},
  };
  for (const Field& field : fields) {
    absl::Status status = ReadNumber(json, field.key, field.maximum, field.number);
    if (!status.ok()) return status;
  }
  if (config->hidden_size % config->head_count != 0) {
    return absl::InvalidArgumentError("'hidden_size' must be a multiple of 'num_attention_heads'");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<BertConfig> ParseBertConfig(absl::string_view text) {
  const Json json = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return absl::InvalidArgumentError("is no JSON object");
  BertConfig config;
  absl::Status status = CheckArchitecture(json);
  if (status.ok()) status = ReadNumbers(json, &config);
  if (!status.ok()) return status;
  const auto epsilon = json.find("layer_norm_eps");
  if (epsilon != json.end() && epsilon->is_number()) config.layer_norm_epsilon = *epsilon;
  return config;
}

}  // namespace mpsd
