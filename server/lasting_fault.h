// LastingFault: whether a model can never serve in this daemon.
#pragma once

#include "absl/status/status.h"
#include "server/request/served_model.h"
#include "server/request/worker_status.h"

namespace mpsd {

// FAILED_PRECONDITION "model 'm': why" for the first model that is refused, or whose workers have
// all failed for good. A new attempt would fail too: the file may hold no model, for example.
// UNAVAILABLE while such a model's last worker may be about to end: the caller asks again. OK
// otherwise, also for a model that loads or whose worker starts again. Called by main, at the
// start. Thread-safe.
absl::Status LastingFault(const ModelDirectory& models, const WorkerStatusSource& workers);

}  // namespace mpsd
