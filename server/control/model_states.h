// ModelStates: the state of each version of a model that is served or refused.
#pragma once

#include <string>
#include <vector>

#include "server/request/served_model.h"
#include "server/request/worker_status.h"
#include "server/telemetry/model_state.h"

namespace mpsd {

// The state of a published generation: kUnavailable once a worker of a model that is not ready has
// left last words, which go to `*why`; null: nobody asks for them. A model of steps that is not
// ready is kUnavailable, since one of its members is missing. Thread-safe.
ModelState StateOf(const ServedModel& model, const std::vector<WorkerInfo>& workers,
                   std::string* why);

// A sample for each published generation, and for each version that is refused. For a scrape of
// /metrics, on whose thread it runs; it blocks no longer than copies take. Thread-safe.
std::vector<ModelStateSample> ModelStates(const ModelDirectory& models,
                                          const WorkerStatusSource& workers);

}  // namespace mpsd
