#include "server/lasting_fault.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace mpsd {
namespace {

absl::Status NeverServes(absl::string_view model, absl::string_view why) {
  const std::string prefix = absl::StrCat("model '", model, "': ");
  absl::ConsumePrefix(&why, prefix);  // some texts of a load begin with it
  return absl::FailedPreconditionError(absl::StrCat(prefix, why));
}

absl::Status FaultOf(const ServedModel& model, const std::vector<WorkerInfo>& workers) {
  const auto failed = [](const WorkerInfo& worker) { return worker.state == "failed"; };
  const auto leaves = [&](const WorkerInfo& worker) {
    return failed(worker) || worker.state == "ending";
  };
  if (model.IsReady() || workers.empty()) return absl::OkStatus();
  if (std::all_of(workers.begin(), workers.end(), failed)) {
    return NeverServes(model.name, workers.front().last_words);
  }
  // Where a first worker has failed, the others of the same file mostly fail a moment later.
  const auto may_leave = [&](const WorkerInfo& worker) {
    const bool starts = worker.state == "loading" || worker.state == "warming up";
    return leaves(worker) || (starts && worker.restarts == 0);
  };
  const bool may_all_leave = std::any_of(workers.begin(), workers.end(), leaves) &&
                             std::all_of(workers.begin(), workers.end(), may_leave);
  return may_all_leave ? absl::UnavailableError("its workers are ending") : absl::OkStatus();
}

}  // namespace

absl::Status LastingFault(const ModelDirectory& models, const WorkerStatusSource& workers) {
  for (const RefusedModel& model : models.refused()) {
    if (model.wanted) return NeverServes(model.name, model.reason);
  }
  absl::Status ending;
  for (const std::shared_ptr<ServedModel>& model : models.models()) {
    absl::Status fault = FaultOf(*model, workers.Workers(*model));
    if (absl::IsFailedPrecondition(fault)) return fault;
    ending.Update(fault);
  }
  return ending;
}

}  // namespace mpsd
