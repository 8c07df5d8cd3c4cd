#include "worker/model/encoder/config/encoder_families.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "worker/model/encoder/config/config_fields.h"

namespace mpsd {
namespace {

using Json = nlohmann::json;

constexpr ConfigKeys kUsualKeys = {
    "hidden_size",       "num_hidden_layers",       "num_attention_heads",
    "intermediate_size", "max_position_embeddings", "hidden_act",
    Activation::kGelu,   "layer_norm_eps",          1e-12};
constexpr ConfigKeys kDistilBertKeys = {
    "dim",        "n_layers",        "n_heads", "hidden_dim", "max_position_embeddings",
    "activation", Activation::kGelu, nullptr,   1e-12};
constexpr ConfigKeys kModernBertKeys = {"hidden_size",
                                        "num_hidden_layers",
                                        "num_attention_heads",
                                        "intermediate_size",
                                        "max_position_embeddings",
                                        "hidden_activation",
                                        Activation::kGelu,
                                        "norm_eps",
                                        1e-5};
constexpr ConfigKeys kNomicBertKeys = {
    "hidden_size",       "num_hidden_layers",       "num_attention_heads",
    "intermediate_size", "max_position_embeddings", "hidden_act",
    Activation::kSilu,   "layer_norm_eps",          1e-12};
// NomicBERT was published with these keys.
constexpr ConfigKeys kGpt2Keys = {"n_embd",      "n_layer", "n_head",          "n_inner",
                                  "n_positions", nullptr,   Activation::kSilu, "layer_norm_epsilon",
                                  1e-5};
constexpr ConfigKeys kQwen3Keys = {"hidden_size",
                                   "num_hidden_layers",
                                   "num_attention_heads",
                                   "intermediate_size",
                                   "max_position_embeddings",
                                   "hidden_act",
                                   Activation::kSilu,
                                   "rms_norm_eps",
                                   1e-6};
constexpr ConfigKeys kGemma3Keys = {"hidden_size",
                                    "num_hidden_layers",
                                    "num_attention_heads",
                                    "intermediate_size",
                                    "max_position_embeddings",
                                    "hidden_activation",
                                    Activation::kGeluTanh,
                                    "rms_norm_eps",
                                    1e-6};

constexpr char kWords[] = "ForMaskedLM";
constexpr char kNextWord[] = "ForCausalLM";

constexpr FamilyRow kFamilies[] = {
    {EncoderFamily::kBert, "bert", "Bert", kWords, true, false, &kUsualKeys},
    {EncoderFamily::kRoberta, "roberta", "Roberta", kWords, true, false, &kUsualKeys},
    {EncoderFamily::kXlmRoberta, "xlm-roberta", "XLMRoberta", kWords, true, false, &kUsualKeys},
    {EncoderFamily::kCamembert, "camembert", "Camembert", kWords, true, false, &kUsualKeys},
    {EncoderFamily::kDistilBert, "distilbert", "DistilBert", kWords, true, false, &kDistilBertKeys},
    {EncoderFamily::kMpnet, "mpnet", "MPNet", kWords, true, false, &kUsualKeys},
    {EncoderFamily::kModernBert, "modernbert", "ModernBert", kWords, true, false, &kModernBertKeys},
    {EncoderFamily::kNomicBert, "nomic_bert", "NomicBert", kWords, true, true, &kNomicBertKeys},
    {EncoderFamily::kNewGte, "new", "New", kWords, true, true, &kUsualKeys},
    {EncoderFamily::kGte, "gte", "Gte", kWords, true, true, &kUsualKeys},
    {EncoderFamily::kQwen3, "qwen3", "Qwen3", kNextWord, false, false, &kQwen3Keys},
    {EncoderFamily::kGemma3, "gemma3_text", "Gemma3Text", nullptr, false, false, &kGemma3Keys},
};

// A second head, which embedders do not use.
bool NamesTokenWeights(const Json& names, const FamilyRow& family) {
  return family.family == EncoderFamily::kNewGte && names.is_array() && names.size() == 2 &&
         names[0] == "NewModel" && names[1] == "NewForTokenClassification";
}

}  // namespace

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

absl::StatusOr<HeadKind> ReadHead(const Json& json, const FamilyRow& family) {
  const Json* found = Find(json, "architectures");
  if (found == nullptr) return HeadKind::kNone;
  if (NamesTokenWeights(*found, family)) return HeadKind::kTraining;
  const char* const training = family.training_head;
  if (found->is_array() && found->size() == 1 && (*found)[0].is_string()) {
    const std::string name = (*found)[0];
    absl::string_view head = name;
    const bool is_known_family = absl::ConsumePrefix(&head, family.prefix);
    if (is_known_family && head == "Model") return HeadKind::kNone;
    if (is_known_family && training != nullptr && head == training) return HeadKind::kTraining;
    if (is_known_family && family.has_classifier && head == "ForSequenceClassification") {
      return HeadKind::kClassifier;
    }
  }
  std::string known = absl::StrCat(family.prefix, "Model");
  if (family.has_classifier) {
    absl::StrAppend(&known, ", ", family.prefix, "ForSequenceClassification");
  }
  if (training != nullptr) {
    absl::StrAppend(&known, " and, below modules.json, ", family.prefix, training);
  }
  return Refused(absl::StrCat("'architectures' is ", Shown(*found), "; mpsd knows ", known));
}

absl::Status CheckCode(const Json& json, const FamilyRow& family) {
  const Json* found = Find(json, "auto_map");
  if (found == nullptr) return absl::OkStatus();
  bool is_own = family.was_published_with_code && found->is_object();
  for (const auto& item : found->items()) {
    const std::string name = item.value().is_string() ? item.value().get<std::string>() : "";
    const absl::string_view last = absl::string_view(name).substr(name.rfind('.') + 1);
    is_own = is_own && item.key() != "AutoTokenizer" && absl::StartsWith(last, family.prefix);
  }
  if (is_own) return absl::OkStatus();
  return Refused("'auto_map' names code of the folder's own, which mpsd does not run");
}

const ConfigKeys& KeysOf(const Json& json, const FamilyRow& family) {
  const bool has_gpt2_keys =
      family.family == EncoderFamily::kNomicBert && Find(json, "n_embd") != nullptr;
  return has_gpt2_keys ? kGpt2Keys : *family.keys;
}

absl::string_view NameOf(EncoderFamily family) {
  for (const FamilyRow& row : kFamilies) {
    if (row.family == family) return row.model_type;
  }
  return "";
}

}  // namespace mpsd
