// CheckConcurrency: the self-check of a model's lanes before they serve.
//
// A module that keeps an intermediate result in a member, or an operator with a race, answers
// correctly on one lane and wrongly on several, without an error. Neither the file nor the census
// shows it. So a worker with several lanes tries them at load. If they disturb each other, it goes
// on with one lane (`DecideLanes` in worker/main.cc), and its LoadReport says why.
//
// Two shapes are tried: the smallest that the model serves, and the largest that a lane runs in
// kComparedRunNs (trial_bound.h).
//
//   Cold     All lanes run inputs of their own at once. This finds races while code compiles: this
//            shape has not run before, except to time a slow model's second shape.
//   Alone    Each lane runs its inputs twice. This gives the answers to compare with.
//   Warm     All lanes run at once, round after round. This finds races while code runs.
//
// Concurrent answers must agree with the answers alone, up to rounding. A passed check is no proof,
// because a disturbance may need luck to show. All kConcurrencyRounds miss a disturbance in a tenth
// of the rounds with less than 1 % probability. The fewest rounds, which a slow model gets, miss it
// with 43 %.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "proto/base/clock.h"
#include "worker/model/model.h"

namespace mpsd {

// Warm rounds for one shape: fewer once kConcurrencyRoundsNs are over, but at least the fewest.
// ln(0.01) / ln(0.9) is 44.
inline constexpr int kConcurrencyRounds = 44;
inline constexpr int kFewestConcurrencyRounds = 8;
inline constexpr int64_t kConcurrencyRoundsNs = 2 * kNsPerSecond;  // for one shape

// The longest run of a lane alone, by which two lanes on one core have time for all rounds.
inline constexpr int64_t kComparedRunNs = 20 * kNsPerMs;

struct ConcurrencyCheckOptions {
  bool lane_on_main_thread = false;  // lane 0 will run on the calling thread
  const Clock* clock = Clock::Real();
};

// Finds models whose lanes disturb each other. Inputs are rows of random small numbers (TrialDims()
// of worker/model/trial_dims.h). The small shape has four rows at the first bucket, the large one
// up to max_batch_size rows at the last bucket. Integers lie in the input's trial_range() and must
// be equal; floats have a relative tolerance.
//
// OK: the outputs agree, or there are fewer than two lanes. ABORTED: they differ, or a run failed
// that had succeeded alone; several lanes of this model are not safe. UNAVAILABLE: the check cannot
// tell, because the model rejects random inputs or answers equal inputs differently each time.
// Another error: a lane has no stream.
//
// Blocks for all those runs. Called on the main thread before the lanes start, with no batch
// anywhere. Starts one thread for each lane, except a lane 0 that is tried on the calling thread.
// Binds the threads to the lanes and joins them: afterwards no lane is bound.
absl::Status CheckConcurrency(Model* model, uint32_t lanes,
                              const ConcurrencyCheckOptions& options = {});

// How many lanes are left after the check. One if the lanes disturb each other, or if the check
// `is_needed` (ModelTraits::needs_self_check) and could not tell. Pure.
uint32_t LanesAfter(const absl::Status& check, uint32_t lanes, bool is_needed);

}  // namespace mpsd
