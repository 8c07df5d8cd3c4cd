#include "worker/model/encoder/config/classifier_config.h"

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/link/messages.h"
#include "worker/model/encoder/config/config_fields.h"

namespace mpsd {
namespace {

using Json = nlohmann::json;

absl::Status ReadLabels(const Json& json, EncoderConfig* config) {
  const Json* found = Find(json, "id2label");
  if (found == nullptr) {  // as in transformers, two labels if the file names none
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

// As the tools that trained the model make scores: the config's own activation, otherwise the one
// for 'problem_type', otherwise a sigmoid for one label and a softmax for several.
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

absl::Status ReadClassifierConfig(const Json& json, EncoderConfig* config) {
  absl::Status status = ReadLabels(json, config);
  if (!status.ok()) return status;
  return ReadScore(json, config);
}

}  // namespace mpsd
