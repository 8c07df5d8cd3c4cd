// CheckConcurrency: the self-check of a model's lanes before they serve.
//
// A module that keeps an intermediate result in a member, or an operator with a race, gives right
// answers on one lane and wrong ones on several, without an error. Neither file nor census tells.
// So a worker with several lanes tries it out at load, and goes on with one lane where they disturb
// each other (`DecideLanes` in worker/main.cc); its LoadReport says why.
//
//   alone       each lane runs inputs of its own, twice    the answers to compare with
//   together    all lanes run them, eight rounds at once   must agree with those, up to rounding
//
// A disturbance may need luck to show, so a passed check is no proof.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "worker/model/model.h"

namespace mpsd {

// Finds models whose lanes disturb each other. Inputs are up to four rows of random small numbers,
// of the shapes of TrialDims() (worker/model/trial_dims.h); integers are 0 or 1, valid indices of
// any table. The tolerance is relative, and none for integers.
//
// OK: the outputs agree, or there are fewer than two lanes. ABORTED: they differ, or a run failed
// that had succeeded alone; several lanes of this model are not safe. UNAVAILABLE: the check cannot
// tell, because the model rejects random inputs or answers equal inputs differently each time.
// Another error: a lane has no stream.
//
// Blocks for all those runs. Called on the main thread before the lanes start, with no batch
// anywhere. Starts threads of its own, one for each lane, binds them to the lanes for the time of
// the check, and joins them: afterwards no lane is bound.
absl::Status CheckConcurrency(Model* model, uint32_t lanes);

}  // namespace mpsd
