#include "server/bodies/text_routes/usual_model.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/request/retry_info.h"

namespace mpsd {
namespace {

using ServedModels = std::vector<std::shared_ptr<ServedModel>>;

constexpr int64_t kLoadingRetryNs = 1'000'000'000;
constexpr ModelTask kTasks[] = {ModelTask::kEmbedding, ModelTask::kRerank, ModelTask::kClassify};

// The best first. kAuto stands for any.
std::vector<ModelTask> TasksOf(TextRoute route) {
  if (!Infers(route)) return {ModelTask::kAuto};
  if (route == TextRoute::kPredict) return {ModelTask::kClassify, ModelTask::kRerank};
  return {route == TextRoute::kRerank ? ModelTask::kRerank : ModelTask::kEmbedding};
}

// Each name once, with the version for requests without one.
ServedModels ModelsOf(const ModelDirectory& models, MayUseModel may_use) {
  ServedModels found;
  for (const std::shared_ptr<ServedModel>& served : models.models()) {
    if (may_use(served->name) && models.Find(served->name) == served) found.push_back(served);
  }
  return found;
}

bool IsLoading(const ServedModel& model) {
  return model.members == nullptr && !model.ready && !model.settled;
}

absl::Status Loading(const ServedModel& model) {
  return WithRetryAfter(
      absl::UnavailableError(absl::StrCat("model '", model.name, "' is still loading")),
      kLoadingRetryNs);
}

bool IsDefaultFor(const ServedModel& model, ModelTask task) {
  const std::vector<ModelTask>& tasks = model.facts.default_for;
  return std::find(tasks.begin(), tasks.end(), task) != tasks.end();
}

// A model that is not loaded may turn out to have the task.
bool MayHave(const ServedModel& model, ModelTask task) {
  const ModelTask told = model.facts.task;
  return task == ModelTask::kAuto || told == ModelTask::kAuto || told == task;
}

// Nothing if the model has another task, or failed to load.
absl::StatusOr<std::optional<TextModel>> ModelFor(const std::shared_ptr<ServedModel>& served,
                                                  ModelTask task) {
  if (IsLoading(*served) && MayHave(*served, task)) return Loading(*served);
  if (!served->loaded) return std::nullopt;
  std::optional<TextModel> model = TextModelOf(served);
  const bool fits = model.has_value() && (task == ModelTask::kAuto || model->task == task);
  return fits ? std::move(model) : std::nullopt;
}

// Nothing if no model has the task.
absl::StatusOr<std::optional<TextModel>> UsualOf(const ServedModels& models, ModelTask task,
                                                 bool needs_tokenizer) {
  for (const std::shared_ptr<ServedModel>& served : models) {
    if (!IsDefaultFor(*served, task)) continue;
    if (IsLoading(*served)) return Loading(*served);
    if (absl::Status status = CheckLoaded(*served); !status.ok()) return status;
    auto model = ModelFor(served, task);
    if (!model.ok() || model->has_value()) return model;
  }
  for (const std::shared_ptr<ServedModel>& served : models) {
    if (needs_tokenizer && absl::IsUnimplemented(served->texts.status())) continue;
    auto model = ModelFor(served, task);
    if (!model.ok() || model->has_value()) return model;
  }
  return std::nullopt;
}

absl::StatusOr<TextModel> FindAmong(const ServedModels& models, TextRoute route) {
  for (const ModelTask task : TasksOf(route)) {
    auto model = UsualOf(models, task, route == TextRoute::kTokenize);
    if (!model.ok()) return model.status();
    if (model->has_value()) return **std::move(model);
  }
  std::vector<TextModel> others;
  for (const std::shared_ptr<ServedModel>& served : models) {
    if (!served->loaded) continue;
    if (std::optional<TextModel> one = TextModelOf(served)) others.push_back(*std::move(one));
  }
  if (others.empty()) return absl::NotFoundError("no model that takes texts is served");
  if (others.size() == 1) return std::move(others[0]);
  return absl::InvalidArgumentError(
      absl::StrCat("none of the ", others.size(), " models that take texts answers this path"));
}

}  // namespace

absl::StatusOr<TextModel> FindUsualModel(const ModelDirectory& models, TextRoute route,
                                         MayUseModel may_use) {
  absl::StatusOr<TextModel> model = FindAmong(ModelsOf(models, may_use), route);
  if (!absl::IsNotFound(model.status())) return model;
  // If a right is missing, the caller should learn that.
  return FindAmong(ModelsOf(models, [](absl::string_view) { return true; }), route);
}

std::vector<UsualModel> UsualModels(const ModelDirectory& models, MayUseModel may_use) {
  const ServedModels all = ModelsOf(models, may_use);
  std::vector<UsualModel> usual;
  for (const ModelTask task : kTasks) {
    const auto found = UsualOf(all, task, /*needs_tokenizer=*/false);
    if (!found.ok() || !found->has_value()) continue;
    const auto has_task = [task](const auto& served) {
      const std::optional<TextModel> model =
          served->loaded ? TextModelOf(served) : std::optional<TextModel>();
      return model.has_value() && model->task == task;
    };
    const auto count = std::count_if(all.begin(), all.end(), has_task);
    usual.push_back({task, (*found)->name(), static_cast<size_t>(count)});
  }
  return usual;
}

}  // namespace mpsd
