#include "server/bodies/text_routes/text_model.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/texts/text_encoder.h"
#include "server/texts/token_tensors.h"

namespace mpsd {
namespace {

bool IsRowOfReals(const TensorSpec& tensor) {
  return tensor.datatype == DataType::kFp32 && tensor.told_dims().size() <= 1;
}

std::optional<size_t> FindOutput(const ModelSpec& spec,
                                 std::initializer_list<absl::string_view> names) {
  for (size_t i = 0; i < spec.outputs.size(); ++i) {
    const auto named = std::find(names.begin(), names.end(), spec.outputs[i].name);
    if (named != names.end() && IsRowOfReals(spec.outputs[i])) return i;
  }
  return std::nullopt;
}

std::optional<size_t> FindOutputOf(const ModelSpec& spec, ModelTask task) {
  const std::optional<size_t> named = task == ModelTask::kEmbedding
                                          ? FindOutput(spec, {"sentence_embedding", "embedding"})
                                          : FindOutput(spec, {"scores", "score"});
  const bool is_only = spec.outputs.size() == 1 && IsRowOfReals(spec.outputs[0]);
  return !named.has_value() && is_only ? std::optional<size_t>(0) : named;
}

// 0 if the spec leaves it open.
size_t WidthOf(const TensorSpec& tensor) {
  const Dims& dims = tensor.told_dims();
  if (dims.empty()) return 1;
  return dims[0] < 0 ? 0 : static_cast<size_t>(dims[0]);
}

ModelTask TaskTold(const ModelSpec& spec) {
  if (FindOutput(spec, {"sentence_embedding", "embedding"}).has_value()) {
    return ModelTask::kEmbedding;
  }
  const std::optional<size_t> scores = FindOutput(spec, {"scores", "score"});
  if (!scores.has_value()) return ModelTask::kAuto;
  return WidthOf(spec.outputs[*scores]) == 1 ? ModelTask::kRerank : ModelTask::kClassify;
}

// The config's task, else the file's, else the outputs'.
ModelTask TaskOf(const ServedModel& served) {
  if (served.facts.task != ModelTask::kAuto) return served.facts.task;
  return served.spec.task == ModelTask::kAuto ? TaskTold(served.spec) : served.spec.task;
}

}  // namespace

std::string TextModel::LabelOf(size_t index) const {
  const auto found = served->labels.find(output_spec().name);
  const bool is_named = found != served->labels.end() && index < found->second.size();
  return is_named ? found->second[index] : absl::StrCat("LABEL_", index);
}

std::optional<TextModel> TextModelOf(std::shared_ptr<ServedModel> served) {
  const ModelSpec& spec = served->spec;
  const std::optional<TokenPlaces> places = FindTokenPlaces(spec);
  if (spec.decoupled || !places.has_value() || MostRowTokens(spec, *places) == 0) {
    return std::nullopt;
  }
  TextModel model;
  model.task = TaskOf(*served);
  if (model.task == ModelTask::kAuto) return std::nullopt;
  const std::optional<size_t> output = FindOutputOf(spec, model.task);
  if (!output.has_value()) return std::nullopt;
  model.output = *output;
  model.width = WidthOf(spec.outputs[*output]);
  if (model.task != ModelTask::kEmbedding) model.raw_output = FindOutput(spec, {"logits"});
  model.served = std::move(served);
  return model;
}

size_t MostTokens(const TextModel& model) {
  const ModelSpec& spec = model.served->spec;
  const size_t most = MostRowTokens(spec, *FindTokenPlaces(spec));
  if (!model.served->texts.ok()) return most;
  const size_t own_most = (*model.served->texts)->policy().max_tokens;
  return own_most == 0 ? most : std::min(own_most, most);
}

bool CutsByDefault(const TextModel& model) {
  return !model.served->texts.ok() ||
         (*model.served->texts)->policy().long_input == LongInput::kTruncate;
}

TextSide CutSideByDefault(const TextModel& model) {
  return model.served->texts.ok() ? (*model.served->texts)->cut_side() : TextSide::kRight;
}

std::vector<TextModel> AllTextModels(const ModelDirectory& models) {
  std::vector<TextModel> found;
  for (const std::shared_ptr<ServedModel>& served : models.models()) {
    // Only the version for requests without one counts.
    if (!served->loaded || models.Find(served->name) != served) continue;
    std::optional<TextModel> model = TextModelOf(served);
    if (model.has_value()) found.push_back(*std::move(model));
  }
  return found;
}

absl::StatusOr<TextModel> FindTextModel(const ModelDirectory& models, absl::string_view name) {
  absl::StatusOr<std::shared_ptr<ServedModel>> served = FindLoaded(models, name, "");
  if (!served.ok()) return served.status();
  std::optional<TextModel> model = TextModelOf(*std::move(served));
  if (model.has_value()) return *std::move(model);
  return absl::InvalidArgumentError(absl::StrCat(
      "model '", name, "' is none for texts: it has no tokens as inputs, or no known task"));
}

}  // namespace mpsd
