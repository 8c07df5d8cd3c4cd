// GraphMembers: finds the current models of a graph.
#pragma once

#include "server/request/graph/step_graph.h"
#include "server/request/served_model.h"
#include "server/request/step_members.h"

namespace mpsd {

// A request that cannot end well costs no member anything. A member may not have steps itself.
// Owned by the generation with these steps. Thread-safe: constant.
class GraphMembers final : public StepMembers {
 public:
  // `whole` is the generation.
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
