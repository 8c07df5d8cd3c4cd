#include "server/request/served_model.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/base/check.h"
#include "proto/base/limits.h"

namespace mpsd {
namespace {

std::string TensorsText(const std::vector<TensorSpec>& tensors, bool batches) {
  return absl::StrJoin(tensors, ", ", [batches](std::string* out, const TensorSpec& tensor) {
    TensorSpec whole = tensor;
    if (batches) whole.dims.insert(whole.dims.begin(), -1);
    absl::StrAppend(out, TensorText(whole));
  });
}

// The longer decimal is higher.
bool IsHigher(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() > b.size() : a > b;
}

bool IsSame(const ServedModel& a, const ServedModel& b) {
  return a.name == b.name && a.version == b.version;
}

}  // namespace

uint32_t ServedModel::MostRows() const {
  uint32_t parts = kMaxRequestParts;
  for (const QueuePolicy& level : facts.queue.levels) {
    parts = std::min(parts, (level.requests + 1) / 2);  // one tenant's part of an empty queue
  }
  return std::max(spec.max_batch_size,
                  std::min(facts.max_request_rows, parts * spec.max_batch_size));
}

std::string SpecText(const ModelSpec& spec) {
  return absl::StrCat(TensorsText(spec.inputs, spec.batches()), " -> ",
                      TensorsText(spec.outputs, spec.batches()));
}

std::shared_ptr<ServedModel> ModelDirectory::Publish(std::shared_ptr<ServedModel> model) {
  const auto same = [&model](const auto& other) { return IsSame(*other, *model); };
  absl::MutexLock lock(&mu_);
  std::vector<std::shared_ptr<ServedModel>>& versions = by_name_[model->name];
  const auto old = std::find_if(versions.begin(), versions.end(), same);
  if (old != versions.end()) {
    const auto listed = std::find(models_.begin(), models_.end(), *old);
    MPSD_CHECK(listed != models_.end());
    *listed = model;
    return std::exchange(*old, std::move(model));
  }
  models_.push_back(model);
  const auto lower = [&model](const auto& other) {
    return IsHigher(model->version, other->version);
  };
  versions.insert(std::find_if(versions.begin(), versions.end(), lower), std::move(model));
  return nullptr;
}

void ModelDirectory::Withdraw(const ServedModel& model) {
  const auto is_it = [&model](const auto& other) { return other.get() == &model; };
  absl::MutexLock lock(&mu_);
  std::erase_if(models_, is_it);
  const auto found = by_name_.find(model.name);
  if (found == by_name_.end()) return;
  std::erase_if(found->second, is_it);
  if (found->second.empty()) by_name_.erase(found);
}

std::shared_ptr<ServedModel> ModelDirectory::Find(absl::string_view name,
                                                  absl::string_view version) const {
  absl::ReaderMutexLock lock(&mu_);
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return nullptr;
  for (const std::shared_ptr<ServedModel>& model : found->second) {
    if (version.empty() ? model->ready.load() : version == model->version) return model;
  }
  return version.empty() ? found->second.front() : nullptr;
}

void ModelDirectory::Know(const std::string& name, const std::string& version) {
  absl::MutexLock lock(&mu_);
  known_.emplace(name, version);
}

void ModelDirectory::Forget(const std::string& name, const std::string& version) {
  absl::MutexLock lock(&mu_);
  known_.erase({name, version});
}

bool ModelDirectory::Knows(absl::string_view name, absl::string_view version) const {
  const auto is_asked_for = [&](absl::string_view its_name, absl::string_view its_version) {
    return its_name == name && (version.empty() || its_version == version);
  };
  absl::ReaderMutexLock lock(&mu_);
  const auto found = known_.lower_bound({std::string(name), std::string(version)});
  if (found != known_.end() && is_asked_for(found->first, found->second)) return true;
  return std::any_of(refused_.begin(), refused_.end(), [&](const RefusedModel& model) {
    return is_asked_for(model.name, model.version);
  });
}

void ModelDirectory::SetRefused(std::vector<RefusedModel> refused) {
  absl::MutexLock lock(&mu_);
  refused_ = std::move(refused);
}

std::vector<RefusedModel> ModelDirectory::refused() const {
  absl::ReaderMutexLock lock(&mu_);
  return refused_;
}

bool ModelDirectory::IsFetched(absl::string_view name) const {
  absl::ReaderMutexLock lock(&mu_);
  return std::any_of(refused_.begin(), refused_.end(), [&name](const RefusedModel& model) {
    return model.is_fetched && model.name == name;
  });
}

std::vector<std::string> ModelDirectory::Versions(absl::string_view name) const {
  std::vector<std::string> versions;
  absl::ReaderMutexLock lock(&mu_);
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return versions;
  for (auto model = found->second.rbegin(); model != found->second.rend(); ++model) {
    versions.push_back((*model)->version);
  }
  return versions;
}

std::vector<std::shared_ptr<ServedModel>> ModelDirectory::models() const {
  absl::ReaderMutexLock lock(&mu_);
  return models_;
}

bool ModelDirectory::IsReady() const {
  const auto ready = [](const std::shared_ptr<ServedModel>& model) { return model->IsReady(); };
  const auto wanted = [](const RefusedModel& model) { return model.wanted; };
  if (stage != ServingStage::kServing) return false;
  std::vector<std::shared_ptr<ServedModel>> models;
  bool misses = false;
  {
    absl::ReaderMutexLock lock(&mu_);
    models = models_;
    misses = std::any_of(refused_.begin(), refused_.end(), wanted);
  }
  if (strict) return !misses && std::all_of(models.begin(), models.end(), ready);
  return std::any_of(models.begin(), models.end(), ready) || (models.empty() && !misses);
}

absl::StatusOr<std::shared_ptr<ServedModel>> FindServed(const ModelDirectory& models,
                                                        absl::string_view name,
                                                        absl::string_view version) {
  std::shared_ptr<ServedModel> model = models.Find(name);
  if (model == nullptr && !models.Knows(name)) {
    return absl::NotFoundError(
        absl::StrCat("Request for unknown model: '", name, "' is not found"));
  }
  if (version.empty() && model == nullptr && models.IsFetched(name)) {
    return absl::UnavailableError(
        absl::StrCat("Request for model '", name, "' is not at ready state"));
  }
  if (version.empty() && model == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("Request for unknown model: '", name, "' has no available versions"));
  }
  if (version.empty()) return model;
  if (version == "-1") {  // Triton's mark for "any", which clients must not send
    return absl::InvalidArgumentError("invalid model version specified '-1'");
  }
  if (!std::all_of(version.begin(), version.end(), absl::ascii_isdigit) || version.size() > 19) {
    return absl::InvalidArgumentError(
        absl::StrCat("failed to get model version from specified version string '", version, "'"));
  }
  model = models.Find(name, version);
  if (model == nullptr && models.Knows(name, version)) {
    return absl::UnavailableError(absl::StrCat("Request for unknown model: '", name, "' version ",
                                               version, " is not at ready state"));
  }
  if (model == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("Request for unknown model: '", name, "' version ", version, " is not found"));
  }
  return model;
}

absl::Status CheckLoaded(const ServedModel& model) {
  if (model.loaded) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("Request for model '", model.name, "' is not at ready state"));
}

absl::StatusOr<std::shared_ptr<ServedModel>> FindLoaded(const ModelDirectory& models,
                                                        absl::string_view name,
                                                        absl::string_view version) {
  absl::StatusOr<std::shared_ptr<ServedModel>> model = FindServed(models, name, version);
  if (!model.ok()) return model;
  if (absl::Status status = CheckLoaded(**model); !status.ok()) return status;
  return model;
}

}  // namespace mpsd
