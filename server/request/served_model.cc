#include "server/request/served_model.h"

#include <algorithm>
#include <utility>

#include "proto/base/check.h"

namespace mpsd {

void ModelDirectory::Add(std::unique_ptr<ServedModel> model) {
  model->metrics.model = model->name;
  model->metrics.version = model->version;
  const bool fresh = by_name_.emplace(model->name, model.get()).second;
  MPSD_CHECK(fresh);
  models_.push_back(std::move(model));
}

ServedModel* ModelDirectory::Find(absl::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

bool ModelDirectory::AllReady() const {
  const auto ready = [](const std::unique_ptr<ServedModel>& model) { return model->ready.load(); };
  return accepting && !stopping && std::all_of(models_.begin(), models_.end(), ready);
}

}  // namespace mpsd
