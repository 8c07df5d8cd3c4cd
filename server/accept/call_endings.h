// How the ending of a request is counted, whatever call it came with.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "proto/base/clock.h"
#include "server/request/request.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// To be called before the ending is sent, so that whoever has it finds it counted. A request that
// was refused before there was a model for it counts for the server; one that was never admitted is
// in no statistic of the model; one that the model has answered is no failure of the model, though
// the answer could not be given. Thread-safe.
void CountEnding(const Request& request, absl::StatusCode code, ServerMetrics* server,
                 const Clock* clock);

// What one large answer took is not kept for the small ones to come.
void TrimScratch(std::string* scratch);

}  // namespace mpsd
