// StepFactory: makes a generation of a model of steps, which has no workers.
#pragma once

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "server/compose/steps/step_context.h"
#include "server/config/config.h"
#include "server/request/served_model.h"

namespace mpsd {

// The model serves as soon and as long as its members do. The context outlives it. REQUIRES:
// StepGraph::Of() has found nothing wrong.
std::shared_ptr<ServedModel> MakeStepModel(const ModelConfig& model,
                                           std::shared_ptr<ModelMetrics> counters,
                                           StepContext* context);

// Blocks until the members serve. NOT_FOUND or UNAVAILABLE if one is not served, does not fit, or
// cannot come to serve, by `fault`. CANCELLED once `give_up` returns true. Thread-safe.
absl::Status WaitForMembers(const ServedModel& model, const ModelDirectory& models,
                            const std::function<absl::Status(const ServedModel&)>& fault,
                            const std::function<bool()>& give_up);

}  // namespace mpsd
