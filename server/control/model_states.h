// ModelStates: the state of each served or refused version of a model.
#pragma once

#include <string>
#include <vector>

#include "server/request/served_model.h"
#include "server/request/worker_status.h"
#include "server/telemetry/model_state.h"

namespace mpsd {

// A published generation's state. It is kUnavailable once a worker of a model that is not ready has
// left last words, which go to `*why` unless that is null. A model of steps that is not ready is
// kUnavailable, since a member is missing. Thread-safe.
ModelState StateOf(const ServedModel& model, const std::vector<WorkerInfo>& workers,
                   std::string* why);

// A sample for each published generation and each refused version. Runs on the thread of a /metrics
// scrape, and blocks no longer than copies take. Thread-safe.
std::vector<ModelStateSample> ModelStates(const ModelDirectory& models,
                                          const WorkerStatusSource& workers);

}  // namespace mpsd
