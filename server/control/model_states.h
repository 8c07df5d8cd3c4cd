// ModelStates: the state of each version of a model.
#pragma once

#include <string>
#include <vector>

#include "server/request/served_model.h"
#include "server/request/worker_status.h"
#include "server/telemetry/model_state.h"

namespace mpsd {

// kUnavailable if a model that is not ready has a worker with last words, which go to `*why` unless
// that is null, or lacks a member. Thread-safe.
ModelState StateOf(const ServedModel& model, const std::vector<WorkerInfo>& workers,
                   std::string* why);

// For each published generation and each refused version. Runs on the thread of a /metrics scrape.
// Thread-safe.
std::vector<ModelStateSample> ModelStates(const ModelDirectory& models,
                                          const WorkerStatusSource& workers);

}  // namespace mpsd
