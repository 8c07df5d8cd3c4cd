#include "worker/model/encoder/config/encoder_config.h"

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "proto/link/messages.h"
#include "worker/model/encoder/config/bounded_json.h"
#include "worker/model/encoder/config/config_fields.h"
#include "worker/model/encoder/config/encoder_families.h"
#include "worker/model/encoder/config/family_config.h"

namespace mpsd {
namespace {

using Json = nlohmann::json;

// Gives the labels transformers' names.
absl::Status NumberLabels(const Json& json, int64_t usual, EncoderConfig* config) {
  int64_t count = usual;
  config->labels_are_told = Find(json, "num_labels") != nullptr;
  if (config->labels_are_told) {
    const absl::Status status = ReadNumber(json, "num_labels", 1, kMaxLabels, &count);
    if (!status.ok()) return status;
  }
  for (int64_t i = 0; i < count; ++i) config->labels.push_back(absl::StrCat("LABEL_", i));
  return absl::OkStatus();
}

absl::Status ReadLabels(const Json& json, int64_t usual, EncoderConfig* config) {
  const Json* found = Find(json, "id2label");
  if (found == nullptr) return NumberLabels(json, usual, config);
  config->labels_are_told = true;
  if (!found->is_object() || found->empty() || found->size() > kMaxLabels) {
    return Refused(absl::StrCat("'id2label' must be an object with 1 to ", kMaxLabels, " labels"));
  }
  size_t bytes = 0;
  for (size_t i = 0; i < found->size(); ++i) {
    const auto label = found->find(absl::StrCat(i));
    if (label == found->end() || !label->is_string()) {
      return Refused(absl::StrCat("'id2label' has no text for '", i, "'"));
    }
    config->labels.push_back(label->get<std::string>());
    bytes += config->labels.back().size();
    if (bytes > kMaxLabelsBytes) {
      return Refused(
          absl::StrCat("'id2label' has more than ", kMaxLabelsBytes, " bytes of labels"));
    }
  }
  return absl::OkStatus();
}

// The config's own activation, otherwise the one for 'problem_type', otherwise a sigmoid for one
// label and a softmax for several.
absl::Status ReadScore(const Json& json, EncoderConfig* config) {
  const Json* named = Find(json, "sbert_ce_default_activation_function");
  const Json* newer = Find(json, "sentence_transformers");
  if (newer != nullptr && newer->is_object() && Find(*newer, "activation_fn") != nullptr) {
    named = Find(*newer, "activation_fn");
  }
  if (named != nullptr) {
    const absl::StatusOr<Activation> activation =
        ActivationOfClass(named->is_string() ? named->get<std::string>() : Shown(*named));
    if (!activation.ok()) return activation.status();
    config->score = *activation;
    return absl::OkStatus();
  }
  const std::string problem = TextAt(json, "problem_type");
  const bool is_single = config->labels.size() == 1 || problem == "multi_label_classification";
  config->score = is_single ? Activation::kSigmoid : Activation::kSoftmax;
  if (problem == "regression") config->score = Activation::kIdentity;
  return absl::OkStatus();
}

absl::Status ReadClassifierConfig(const Json& json, int64_t usual_labels, EncoderConfig* config) {
  absl::Status status = ReadLabels(json, usual_labels, config);
  if (!status.ok()) return status;
  return ReadScore(json, config);
}

constexpr int64_t kMaxLayers = 256;

absl::Status CheckRefused(const Json& json) {
  if (Find(json, "quantization_config") != nullptr) {
    return Refused("'quantization_config': mpsd reads weights of F32, F16 and BF16 only");
  }
  for (const char* key : {"is_decoder", "add_cross_attention", "is_encoder_decoder"}) {
    if (json.value(key, Json(false)) == true)
      return Refused(absl::StrCat("'", key, "' is true; mpsd serves encoders"));
  }
  const Json* pruned = Find(json, "pruned_heads");
  if (pruned != nullptr && !pruned->empty()) return Refused("'pruned_heads' are not supported");
  return absl::OkStatus();
}

absl::Status ReadSizes(const Json& json, const ConfigKeys& keys, EncoderConfig* config) {
  struct Field {
    const char* key;
    int64_t maximum;
    int64_t* number;
  };
  const Field fields[] = {
      {keys.hidden_size, kMaxConfigSize, &config->hidden_size},
      {keys.layer_count, kMaxLayers, &config->layer_count},
      {keys.head_count, kMaxConfigSize, &config->head_count},
      {keys.intermediate_size, kMaxConfigSize, &config->intermediate_size},
      {"vocab_size", kMaxConfigSize, &config->vocabulary_size},
      {keys.position_count, kMaxConfigSize, &config->position_count},
  };
  for (const Field& field : fields) {
    absl::Status status = ReadNumber(json, field.key, 1, field.maximum, field.number);
    if (!status.ok()) return status;
  }
  if (config->hidden_size % config->head_count != 0) {
    return Refused(
        absl::StrCat("'", keys.hidden_size, "' must be a multiple of '", keys.head_count, "'"));
  }
  config->activation = keys.usual_activation;
  config->layer_norm_epsilon = keys.usual_epsilon;
  absl::Status status;
  if (keys.activation != nullptr) {
    status.Update(ReadActivation(json, keys.activation, &config->activation));
  }
  if (keys.epsilon != nullptr) {
    status.Update(ReadReal(json, keys.epsilon, 0, 1, &config->layer_norm_epsilon));
  }
  return status;
}

absl::Status ReadFamilyKeys(const Json& json, EncoderConfig* config) {
  switch (config->family) {
    case EncoderFamily::kModernBert:
      return ReadModernBertConfig(json, config);
    case EncoderFamily::kNomicBert:
    case EncoderFamily::kNewGte:
    case EncoderFamily::kGte:
      return ReadGatedBertConfig(json, config);
    case EncoderFamily::kQwen3:
    case EncoderFamily::kGemma3:
      return ReadDecoderConfig(json, config);
    default:
      return ReadBertConfig(json, config);
  }
}

}  // namespace

absl::StatusOr<EncoderConfig> ParseEncoderConfig(absl::string_view text, int64_t usual_labels) {
  const absl::StatusOr<Json> parsed = ParseSettings(text);
  if (!parsed.ok()) return parsed.status();
  const Json& json = *parsed;
  absl::Status status = CheckRefused(json);
  if (!status.ok()) return status;
  const absl::StatusOr<FamilyRow> family = ReadFamily(json);
  if (!family.ok()) return family.status();
  if (status = CheckCode(json, *family); !status.ok()) return status;
  const absl::StatusOr<HeadKind> head = ReadHead(json, *family);
  if (!head.ok()) return head.status();
  EncoderConfig config;
  config.family = family->family;
  config.head = *head;
  if (status = ReadSizes(json, KeysOf(json, *family), &config); !status.ok()) return status;
  if (status = ReadFamilyKeys(json, &config); !status.ok()) return status;
  if (config.head == HeadKind::kClassifier) {
    status = ReadClassifierConfig(json, usual_labels, &config);
  }
  if (!status.ok()) return status;
  return config;
}

}  // namespace mpsd
