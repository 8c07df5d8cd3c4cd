#include "server/compose/steps/graph_members.h"

#include <deque>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/request/graph/member_fit.h"
#include "server/request/retry_info.h"
#include "server/texts/told_inputs.h"

namespace mpsd {

absl::StatusOr<std::shared_ptr<ServedModel>> GraphMembers::Find(size_t step,
                                                                MemberNeed need) const {
  const StepGraph::Step& wanted = graph_->steps()[step];
  absl::StatusOr<std::shared_ptr<ServedModel>> member =
      FindLoaded(*models_, wanted.model, wanted.version);
  if (!member.ok()) return member;
  if ((*member)->members != nullptr) {
    return absl::UnavailableError("a model that has steps itself cannot be one");
  }
  if (need == MemberNeed::kReady && !(*member)->ready) {
    return absl::UnavailableError(
        absl::StrCat("Request for model '", wanted.model, "' is not at ready state"));
  }
  return member;
}

absl::Status GraphMembers::Check(MemberNeed need) const {
  std::vector<std::shared_ptr<ServedModel>> held;
  std::deque<ModelSpec> told;  // specs as told by members that take texts
  std::vector<Member> members;
  for (size_t i = 0; i < graph_->steps().size(); ++i) {
    absl::StatusOr<std::shared_ptr<ServedModel>> member = Find(i, need);
    if (!member.ok()) {
      return WithText(member.status(),
                      absl::StrCat(StepPrefix(whole_->name, i, graph_->steps()[i].model),
                                   member.status().message()));
    }
    members.push_back({&(*member)->spec, true, (*member)->MostRows()});
    if ((*member)->texts.ok()) {
      told.push_back((*member)->spec);
      told.back().inputs = ToldInputs(**member);
      members.back().spec = &told.back();
    }
    held.push_back(*std::move(member));
  }
  const std::vector<StepFault> faults = MemberFaults(*graph_, whole_->spec, members);
  if (faults.empty()) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("in ensemble '", whole_->name, "', ",
                                             faults.front().path, ": ", faults.front().what));
}

}  // namespace mpsd
