// GraphMembers: looks the models of a graph up, as they are now.
#pragma once

#include "server/graph/step_graph.h"
#include "server/request/served_model.h"
#include "server/request/step_members.h"

namespace mpsd {

// Asked by readiness, and before a request is admitted: a request that could not end well costs no
// member anything. A member that has steps itself is refused. Owned by the generation whose steps
// these are. Thread-safe: constant.
class GraphMembers final : public StepMembers {
 public:
  // The referents outlive it; `whole` is the generation.
  GraphMembers(const ServedModel* whole, const StepGraph* graph, const ModelDirectory* models)
      : whole_(whole), graph_(graph), models_(models) {}

  absl::Status Check(MemberNeed need) const override;

 private:
  absl::StatusOr<std::shared_ptr<ServedModel>> Find(size_t step, MemberNeed need) const;

  const ServedModel* const whole_;
  const StepGraph* const graph_;
  const ModelDirectory* const models_;
};

}  // namespace mpsd
