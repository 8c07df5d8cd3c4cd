#include "worker/model/encoder/encoder_config.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "nlohmann/json.hpp"
#include "proto/link/messages.h"
#include "worker/model/encoder/bounded_json.h"

namespace mpsd {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMaxConfigSize = 1 << 24;
constexpr int64_t kMaxLayers = 256;
constexpr int64_t kDistanceBuckets = 32;  // of MPNet; transformers computes with no other

// A family as config.json names it: its model_type, and the words before "Model" in the names of
// its architectures.
struct FamilyRow {
  EncoderFamily family;
  absl::string_view model_type;
  absl::string_view prefix;
};

constexpr FamilyRow kFamilies[] = {
    {EncoderFamily::kBert, "bert", "Bert"},
    {EncoderFamily::kRoberta, "roberta", "Roberta"},
    {EncoderFamily::kXlmRoberta, "xlm-roberta", "XLMRoberta"},
    {EncoderFamily::kCamembert, "camembert", "Camembert"},
    {EncoderFamily::kDistilBert, "distilbert", "DistilBert"},
    {EncoderFamily::kMpnet, "mpnet", "MPNet"},
    {EncoderFamily::kModernBert, "modernbert", "ModernBert"},
};

constexpr std::pair<absl::string_view, Activation> kLayerActivations[] = {
    {"gelu", Activation::kGelu},
    {"gelu_new", Activation::kGeluTanh},
    {"gelu_pytorch_tanh", Activation::kGeluTanh},
    {"relu", Activation::kRelu},
    {"silu", Activation::kSilu},
};

constexpr std::pair<absl::string_view, Activation> kActivationClasses[] = {
    {"Identity", Activation::kIdentity}, {"Tanh", Activation::kTanh},
    {"Sigmoid", Activation::kSigmoid},   {"ReLU", Activation::kRelu},
    {"GELU", Activation::kGelu},         {"SiLU", Activation::kSilu},
    {"Softmax", Activation::kSoftmax},
};

absl::Status Refused(absl::string_view what) { return absl::InvalidArgumentError(what); }

const Json* Find(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found == json.end() || found->is_null() ? nullptr : &*found;
}

std::string TextAt(const Json& json, const char* key) {
  const Json* found = Find(json, key);
  return found != nullptr && found->is_string() ? found->get<std::string>() : "";
}

// For an error's text: a part of an untrusted file.
std::string Shown(const Json& json) {
  std::string text = json.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > 100) text = absl::StrCat(text.substr(0, 100), "…");
  return text;
}

absl::StatusOr<FamilyRow> ReadFamily(const Json& json) {
  std::string known;
  for (const FamilyRow& row : kFamilies) {
    if (TextAt(json, "model_type") == row.model_type) return row;
    absl::StrAppend(&known, known.empty() ? "" : ", ", row.model_type);
  }
  const Json* found = Find(json, "model_type");
  return Refused(absl::StrCat("'model_type' is ", found == nullptr ? "missing" : Shown(*found),
                              "; mpsd knows ", known));
}

absl::StatusOr<HeadKind> ReadHead(const Json& json, absl::string_view prefix) {
  const Json* found = Find(json, "architectures");
  if (found == nullptr) return HeadKind::kNone;
  if (found->is_array() && found->size() == 1 && (*found)[0].is_string()) {
    const std::string name = (*found)[0];
    absl::string_view head = name;
    const bool is_known_family = absl::ConsumePrefix(&head, prefix);
    if (is_known_family && head == "Model") return HeadKind::kNone;
    if (is_known_family && head == "ForMaskedLM") return HeadKind::kMaskedLm;
    if (is_known_family && head == "ForSequenceClassification") return HeadKind::kClassifier;
  }
  return Refused(
      absl::StrCat("'architectures' is ", Shown(*found), "; mpsd knows ", prefix, "Model, ", prefix,
                   "ForSequenceClassification and, below modules.json, ", prefix, "ForMaskedLM"));
}

absl::Status CheckRefused(const Json& json) {
  if (Find(json, "auto_map") != nullptr) {
    return Refused("'auto_map' names code of the folder's own, which mpsd does not run");
  }
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

// ModernBERT has rotations whatever the key says, which its files have from other tools.
absl::Status CheckPositions(const Json& json, EncoderConfig* config) {
  const Json* positions = Find(json, "position_embedding_type");
  if (config->family == EncoderFamily::kModernBert || positions == nullptr) {
    return absl::OkStatus();
  }
  if (*positions == "absolute") return absl::OkStatus();
  return Refused(
      absl::StrCat("'position_embedding_type' must be \"absolute\", not ", Shown(*positions)));
}

absl::Status ReadNumber(const Json& json, const char* key, int64_t minimum, int64_t maximum,
                        int64_t* number) {
  const Json* found = Find(json, key);
  if (found == nullptr || !found->is_number_unsigned() || *found > maximum || *found < minimum) {
    return Refused(
        absl::StrCat("'", key, "' must be a whole number from ", minimum, " to ", maximum));
  }
  *number = found->get<int64_t>();
  return absl::OkStatus();
}

absl::Status ReadSizes(const Json& json, EncoderConfig* config) {
  const bool distil = config->family == EncoderFamily::kDistilBert;
  struct Field {
    const char* key;
    int64_t maximum;
    int64_t* number;
  };
  const Field fields[] = {
      {distil ? "dim" : "hidden_size", kMaxConfigSize, &config->hidden_size},
      {distil ? "n_layers" : "num_hidden_layers", kMaxLayers, &config->layer_count},
      {distil ? "n_heads" : "num_attention_heads", kMaxConfigSize, &config->head_count},
      {distil ? "hidden_dim" : "intermediate_size", kMaxConfigSize, &config->intermediate_size},
      {"vocab_size", kMaxConfigSize, &config->vocabulary_size},
      {"max_position_embeddings", kMaxConfigSize, &config->position_count},
  };
  for (const Field& field : fields) {
    absl::Status status = ReadNumber(json, field.key, 1, field.maximum, field.number);
    if (!status.ok()) return status;
  }
  if (config->hidden_size % config->head_count != 0) {
    return Refused(
        absl::StrCat("'", fields[0].key, "' must be a multiple of '", fields[2].key, "'"));
  }
  return absl::OkStatus();
}

absl::Status ReadActivationAt(const Json& json, const char* key, Activation* activation) {
  const Json* found = Find(json, key);
  if (found == nullptr) return absl::OkStatus();
  for (const auto& [name, known] : kLayerActivations) {
    if (*found != std::string(name)) continue;
    *activation = known;
    return absl::OkStatus();
  }
  return Refused(absl::StrCat("'", key, "' is ", Shown(*found),
                              "; mpsd knows gelu, gelu_new, gelu_pytorch_tanh, relu, silu"));
}

// The base of a kind of layer's rotations: of a newer file by `kind`, of an older one by `old_key`.
absl::Status ReadTheta(const Json& json, const char* kind, const char* old_key, double* theta) {
  const Json* found = Find(json, old_key);
  if (const Json* all = Find(json, "rope_parameters"); all != nullptr && all->is_object()) {
    const Json* of_kind = Find(*all, kind);
    if (of_kind != nullptr && of_kind->is_object()) {
      const std::string type = TextAt(*of_kind, "rope_type");
      if (!type.empty() && type != "default") {
        return Refused(
            absl::StrCat("'rope_type' must be \"default\", not \"", type.substr(0, 100), "\""));
      }
      if (Find(*of_kind, "rope_theta") != nullptr) found = Find(*of_kind, "rope_theta");
    }
  }
  if (found == nullptr) return absl::OkStatus();
  if (!found->is_number() || *found < 1.0 || *found > 1e12) {
    return Refused(absl::StrCat("'rope_theta' of ", kind, " must be a number from 1 to 1e12"));
  }
  *theta = *found;
  return absl::OkStatus();
}

absl::Status ReadLocalLayers(const Json& json, EncoderConfig* config) {
  const auto layers = static_cast<size_t>(config->layer_count);
  std::vector<bool>* is_local = &config->rotary.is_local;
  const Json* kinds = Find(json, "layer_types");
  if (kinds == nullptr) {
    int64_t every = 3;
    absl::Status status;
    if (Find(json, "global_attn_every_n_layers") != nullptr) {
      status = ReadNumber(json, "global_attn_every_n_layers", 1, kMaxLayers, &every);
    }
    for (size_t i = 0; i < layers; ++i) is_local->push_back(i % static_cast<size_t>(every) != 0);
    return status;
  }
  if (!kinds->is_array() || kinds->size() != layers) {
    return Refused("'layer_types' must be an array with a text for each layer");
  }
  for (const Json& kind : *kinds) {
    if (kind != "full_attention" && kind != "sliding_attention") {
      return Refused(absl::StrCat("'layer_types' has ", Shown(kind),
                                  "; mpsd knows full_attention, sliding_attention"));
    }
    is_local->push_back(kind == "sliding_attention");
  }
  return absl::OkStatus();
}

absl::Status ReadFlag(const Json& json, const char* key, bool* flag) {
  const Json* found = Find(json, key);
  if (found == nullptr) return absl::OkStatus();
  if (!found->is_boolean()) return Refused(absl::StrCat("'", key, "' must be true or false"));
  *flag = *found;
  return absl::OkStatus();
}

// The keys of ModernBERT.
absl::Status ReadRotary(const Json& json, EncoderConfig* config) {
  RotaryConfig* rotary = &config->rotary;
  if (config->hidden_size / config->head_count % 2 != 0) {
    return Refused("the numbers of a head must be even, so that its positions can be rotations");
  }
  if (Find(json, "rope_scaling") != nullptr) return Refused("'rope_scaling' is not supported");
  int64_t window = 128;
  rotary->theta = 160'000;
  rotary->local_theta = 10'000;
  absl::Status status = ReadLocalLayers(json, config);
  if (Find(json, "local_attention") != nullptr) {
    status.Update(ReadNumber(json, "local_attention", 2, kMaxConfigSize, &window));
  }
  rotary->reach = window / 2;
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
  const std::string pooling = TextAt(json, "classifier_pooling");
  rotary->head_is_mean = pooling == "mean";
  if (Find(json, "classifier_pooling") != nullptr && pooling != "cls" && pooling != "mean") {
    return Refused("'classifier_pooling' must be \"cls\" or \"mean\"");
  }
  status.Update(ReadActivationAt(json, "classifier_activation", &rotary->head_activation));
  return status;
}

// Where the family says more than its sizes.
absl::Status ReadFamilyKeys(const Json& json, EncoderConfig* config) {
  if (config->family == EncoderFamily::kModernBert) return ReadRotary(json, config);
  const bool is_mpnet = config->family == EncoderFamily::kMpnet;
  const bool is_distil = config->family == EncoderFamily::kDistilBert;
  absl::Status status;
  if (!is_mpnet && !is_distil) {
    status.Update(
        ReadNumber(json, "type_vocab_size", 1, kMaxConfigSize, &config->token_type_count));
  }
  if (is_mpnet) {
    config->distance_buckets = kDistanceBuckets;
    const Json* buckets = Find(json, "relative_attention_num_buckets");
    if (buckets != nullptr && *buckets != kDistanceBuckets) {
      return Refused(absl::StrCat("'relative_attention_num_buckets' must be ", kDistanceBuckets));
    }
  }
  const bool counts_from_pad = is_mpnet || (!is_distil && config->family != EncoderFamily::kBert);
  if (!counts_from_pad || !status.ok()) return status;
  config->pad_token = 1;
  if (Find(json, "pad_token_id") != nullptr) {
    status = ReadNumber(json, "pad_token_id", 0, config->vocabulary_size - 1, &config->pad_token);
  }
  if (is_mpnet && config->pad_token != 1) {
    return Refused("'pad_token_id' must be 1: transformers counts MPNet's positions from there");
  }
  config->first_position = config->pad_token + 1;
  if (status.ok() && config->max_tokens() < 1) {
    return Refused("'max_position_embeddings' leaves no position behind 'pad_token_id'");
  }
  return status;
}

absl::Status ReadActivation(const Json& json, EncoderConfig* config) {
  const char* key = "hidden_act";
  if (config->family == EncoderFamily::kDistilBert) key = "activation";
  if (config->family == EncoderFamily::kModernBert) key = "hidden_activation";
  return ReadActivationAt(json, key, &config->activation);
}

absl::Status ReadEpsilon(const Json& json, EncoderConfig* config) {
  if (config->family == EncoderFamily::kDistilBert) return absl::OkStatus();  // it has no such key
  const bool is_modern = config->family == EncoderFamily::kModernBert;
  const char* key = is_modern ? "norm_eps" : "layer_norm_eps";
  if (is_modern) config->layer_norm_epsilon = 1e-5;
  const Json* found = Find(json, key);
  if (found == nullptr) return absl::OkStatus();
  if (!found->is_number() || *found < 0.0 || *found > 1.0) {
    return Refused(absl::StrCat("'", key, "' must be a number from 0 to 1"));
  }
  config->layer_norm_epsilon = *found;
  return absl::OkStatus();
}

absl::Status ReadLabels(const Json& json, EncoderConfig* config) {
  const Json* found = Find(json, "id2label");
  if (found == nullptr) {  // as transformers: two labels where the file names none
    config->labels = {"LABEL_0", "LABEL_1"};
    return absl::OkStatus();
  }
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

// As the tools that trained the model make scores: the config's own activation, else that of
// 'problem_type', else a sigmoid of one label and a softmax of several.
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

}  // namespace

absl::StatusOr<EncoderConfig> ParseEncoderConfig(absl::string_view text) {
  const absl::StatusOr<Json> parsed = ParseSettings(text);
  if (!parsed.ok()) return parsed.status();
  const Json& json = *parsed;
  absl::Status status = CheckRefused(json);
  if (!status.ok()) return status;
  const absl::StatusOr<FamilyRow> family = ReadFamily(json);
  if (!family.ok()) return family.status();
  const absl::StatusOr<HeadKind> head = ReadHead(json, family->prefix);
  if (!head.ok()) return head.status();
  EncoderConfig config;
  config.family = family->family;
  config.head = *head;
  for (const auto read : {CheckPositions, ReadSizes, ReadFamilyKeys, ReadActivation, ReadEpsilon}) {
    if (status = read(json, &config); !status.ok()) return status;
  }
  if (config.head != HeadKind::kClassifier) return config;
  if (status = ReadLabels(json, &config); !status.ok()) return status;
  if (status = ReadScore(json, &config); !status.ok()) return status;
  return config;
}

absl::string_view NameOf(EncoderFamily family) {
  for (const FamilyRow& row : kFamilies) {
    if (row.family == family) return row.model_type;
  }
  return "";
}

absl::string_view NameOf(Activation activation) {
  for (const auto& [name, known] : kActivationClasses) {
    if (known == activation) return name;
  }
  return "GELU(tanh)";
}

absl::StatusOr<Activation> ActivationOfClass(absl::string_view name) {
  const absl::string_view last = name.substr(name.rfind('.') + 1);
  for (const auto& [known, activation] : kActivationClasses) {
    if (last == known) return activation;
  }
  return Refused(absl::StrCat("the activation '", name.substr(0, 100), "' is not known"));
}

}  // namespace mpsd
