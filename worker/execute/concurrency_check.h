// CheckConcurrency: tries a model's lanes at load, before they serve.
//
// A module that keeps an intermediate result in a member, or an operator with a race, answers
// wrongly on several lanes without an error.
//
//   Cold     All lanes run inputs of their own at once: finds races while code compiles.
//   Alone    Each lane runs its inputs twice: the answers to compare with.
//   Warm     All lanes run at once, round after round: finds races while code runs.
//
// A passed check is no proof. All kConcurrencyRounds miss a disturbance in a tenth of the rounds
// with less than 1 % probability, the fewest rounds with 43 %.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "proto/base/clock.h"
#include "worker/model/model.h"

namespace mpsd {

// Warm rounds for one shape: ln(0.01) / ln(0.9). A shape stops after kConcurrencyRoundsNs, but not
// before the fewest.
inline constexpr int kConcurrencyRounds = 44;
inline constexpr int kFewestConcurrencyRounds = 8;
inline constexpr int64_t kConcurrencyRoundsNs = 2 * kNsPerSecond;

// With runs up to this long, two lanes on one core have time for all rounds.
inline constexpr int64_t kComparedRunNs = 20 * kNsPerMs;

struct ConcurrencyCheckOptions {
  bool lane_on_main_thread = false;  // lane 0 will run on the calling thread
  const Clock* clock = Clock::Real();
};

// Compares concurrent answers with answers alone, for random inputs of two shapes. The large shape
// is the largest that a lane runs in kComparedRunNs. Integers must be equal, floats nearly equal.
//
// OK: the outputs agree, or there are fewer than two lanes. ABORTED: they differ, or a run failed
// that had succeeded alone. UNAVAILABLE: the model rejects random inputs or answers equal inputs
// differently each time. Another error: a lane has no stream.
//
// Blocks. Called on the main thread before the lanes start. Afterwards no lane is bound.
absl::Status CheckConcurrency(Model* model, uint32_t lanes,
                              const ConcurrencyCheckOptions& options = {});

// The lanes left after the check: one if they disturb each other, or if the check `is_needed`
// (ModelTraits::needs_self_check) and could not tell. Pure.
uint32_t LanesAfter(const absl::Status& check, uint32_t lanes, bool is_needed);

}  // namespace mpsd
