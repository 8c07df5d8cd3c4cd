#include "server/request/served_model.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/base/check.h"

namespace mpsd {
namespace {

std::string TensorsText(const std::vector<TensorSpec>& tensors, bool batches) {
  return absl::StrJoin(tensors, ", ", [batches](std::string* out, const TensorSpec& tensor) {
    TensorSpec whole = tensor;
    if (batches) whole.dims.insert(whole.dims.begin(), -1);
    absl::StrAppend(out, TensorText(whole));
  });
}

}  // namespace

std::string SpecText(const ModelSpec& spec) {
  return absl::StrCat(TensorsText(spec.inputs, spec.batches()), " -> ",
                      TensorsText(spec.outputs, spec.batches()));
}

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
