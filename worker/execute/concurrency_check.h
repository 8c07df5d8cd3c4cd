// CheckConcurrency: the self-check of a model's lanes before they serve.
//
// A module that keeps an intermediate result in a member, or an operator with a race, gives right
// answers on one lane and wrong ones on several, without an error. Neither file nor census tells.
// So a worker with several lanes tries it out at load, and goes on with one lane where they disturb
// each other (`DecideLanes` in worker/main.cc); its LoadReport says why.
//
// Each of two shapes, the smallest that the model is served with, and the largest or what of it a
// lane runs in kTrialRunNs (trial_bound.h): each lane runs it a dozen times.
//
//   cold     all lanes run inputs of their own at once, before    what races while code is compiled
//            anything of this shape has run, but for what told
//            the time of a slow model's second shape
//   alone    each lane runs them, twice                           the answers to compare with
//   warm     all lanes run them at once, round after round        what races while code runs
//
// What ran at once must agree with what ran alone, up to rounding. A disturbance may need luck to
// show, so a passed check is no proof: one that shows in a tenth of the rounds is missed with a
// probability below 1 % where all kConcurrencyRounds are run, and of 43 % in the fewest rounds,
// which a slow model gets.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "proto/base/clock.h"
#include "worker/model/model.h"

namespace mpsd {

// How often the lanes run at once, warm, for one shape: so often, unless the time is over, but
// never less than the fewest. ln(0.01) / ln(0.9) is 44.
inline constexpr int kConcurrencyRounds = 44;
inline constexpr int kFewestConcurrencyRounds = 8;
inline constexpr int64_t kConcurrencyRoundsNs = 5 * kNsPerSecond;  // of one shape

struct ConcurrencyCheckOptions {
  bool lane_on_main_thread = false;  // lane 0 will run on the calling thread
  const Clock* clock = Clock::Real();
};

// Finds models whose lanes disturb each other. Inputs are rows of random small numbers, of the
// shapes of TrialDims() (worker/model/trial_dims.h): four rows at the first bucket, and
// max_batch_size rows at the last, or fewer rows, or a smaller bucket, as kTrialRunNs allows.
// Integers are those of Model::trial_range(). The tolerance is relative, and none for integers.
// Rounds of a shape end after kConcurrencyRoundsNs, but not before the fewest are run.
//
// OK: the outputs agree, or there are fewer than two lanes. ABORTED: they differ, or a run failed
// that had succeeded alone; several lanes of this model are not safe. UNAVAILABLE: the check cannot
// tell, because the model rejects random inputs or answers equal inputs differently each time.
// Another error: a lane has no stream.
//
// Blocks for all those runs. Called on the main thread before the lanes start, with no batch
// anywhere. Starts threads of its own, one for each lane but for a lane 0 that is tried out on the
// calling thread, binds them to the lanes for the time of the check, and joins them: afterwards no
// lane is bound.
absl::Status CheckConcurrency(Model* model, uint32_t lanes,
                              const ConcurrencyCheckOptions& options = {});

// What such a check leaves of the lanes: one where they disturb each other, and one where the check
// `is_needed` (Model::needs_self_check()) and told nothing. Pure.
uint32_t LanesAfter(const absl::Status& check, uint32_t lanes, bool is_needed);

}  // namespace mpsd
