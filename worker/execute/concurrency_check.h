// CheckConcurrency: the self-check of a model's lanes before they serve.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "worker/model/model.h"

namespace mpsd {

// Finds models whose lanes disturb each other. Gives each lane inputs of its own, runs the lanes
// one after another, then all at once for some rounds, and compares the outputs.
//
// OK: the outputs agree, up to rounding. ABORTED: they differ, or a run failed that had succeeded
// alone; several lanes of this model are not safe. UNAVAILABLE: the check cannot tell, because the
// model rejects random inputs or answers equal inputs differently each time.
//
// Blocks for all those runs. Called on the main thread before the lanes start. Starts threads of
// its own, binds them to the lanes for the time of the check, and joins them.
absl::Status CheckConcurrency(Model* model, uint32_t lanes);

}  // namespace mpsd
