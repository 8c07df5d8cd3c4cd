// Trial: a candidate with its measurement.
//
//   Candidate ─▶ PrivateDaemon ─▶ one client ─▶ many clients ─▶ the knee under the SLO
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/bench/bench_inputs.h"
#include "client/bench/load_point.h"
#include "client/bench/slo.h"
#include "client/tune/candidate.h"
#include "client/tune/tune_config.h"

namespace mpsd::tune {

// How to measure candidates; the same for a whole run.
struct TrialSetup {
  std::string program;  // the mpsd to run
  bench::Slo slo;
  bench::RequestWishes requests;
  absl::Duration duration = absl::Seconds(2);  // length of each load, see LoadDuration()
  absl::Duration start_limit = absl::Minutes(2);
  std::function<bool()> stop;  // true: the trial ends soon
};

// The state kTooSlow: the model serves, but nothing within the SLO. In kFailed the model does not
// serve, or answers nothing rightly. In kWrongRequests the user's wishes for requests do not fit
// the model, so no other candidate can be measured either.
enum class TrialState : uint8_t { kMet, kTooSlow, kFailed, kWrongRequests, kNotTried };

struct Trial {
  Candidate candidate{};
  TrialState state = TrialState::kNotTried;
  std::string reason{};  // empty for kMet
  // The daemon's facts about the model; empty and 0 unless the model served.
  std::string device{};
  uint32_t processes = 0;
  uint32_t lanes = 0;  // lanes of each process
  uint32_t max_batch_size = 0;
  std::optional<bench::LoadPoint> knee{};  // only for kMet
  double rate() const { return knee ? knee->answered : 0; }
};

// Starts a daemon for the candidate, measures, and ends the daemon. Every failure becomes the
// trial's reason. Blocks for all that.
Trial RunTrial(const TrialSetup& setup, const TuneConfig& config, const Candidate& candidate);

// Loads a daemon with `config` itself for three times the duration of a load, at 0.9 of the `knee`,
// then 0.8 and 0.7 if the SLO does not hold. A knee is the best of several measurements, so it is
// often too high. Returns the first point that holds, or else the last. An error if the daemon does
// not serve. Blocks.
absl::StatusOr<bench::LoadPoint> Verify(const TrialSetup& setup, const TuneConfig& config,
                                        double knee);

// How long a load has to be: ten times the SLO's bound, but half a minute at most, and in any case
// at least `wanted`. In a shorter time a growing queue does not show. Pure.
absl::Duration LoadDuration(absl::Duration wanted, const bench::Slo& slo);

// How many clients are enough to load `lanes` lanes. A `max_batch_size` of 0 means no batches.
// Pure.
uint32_t ManyClients(uint32_t lanes, uint32_t max_batch_size);

// Why no request of the load was answered rightly; empty: some were. Pure.
std::string LoadFault(const bench::LoadPoint& point);

// Whether one client alone waits longer than the SLO allows, so that no rate can meet the SLO.
// Pure.
bool IsHopeless(const bench::LoadPoint& one_client, const bench::Slo& slo);

}  // namespace mpsd::tune
