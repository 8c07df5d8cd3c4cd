// LastingFault: whether a model can never serve in this daemon.
#pragma once

#include "absl/status/status.h"
#include "server/request/served_model.h"
#include "server/request/worker_status.h"

namespace mpsd {

// FAILED_PRECONDITION "model 'm': why" for the first model that is refused, or whose workers have
// all failed for good. UNAVAILABLE while some of its workers have failed, and the last ones end or
// start for the first time: ask again. Otherwise OK, also for a model that loads. Called by main,
// at the start. Thread-safe.
absl::Status LastingFault(const ModelDirectory& models, const WorkerStatusSource& workers);

}  // namespace mpsd
