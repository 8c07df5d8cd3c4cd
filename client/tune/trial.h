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

struct TrialSetup {
  std::string program;  // the mpsd to run
  bench::Slo slo;
  bench::RequestWishes requests;
  absl::Duration duration = absl::Seconds(2);  // length of each load, see LoadDuration()
  absl::Duration start_limit = absl::Minutes(2);
  std::function<bool()> stop;  // true: the trial ends soon
};

// kTooSlow: nothing is within the SLO. kFailed: the model does not serve, or answers nothing
// rightly. kWrongRequests: the wishes for requests do not fit the model, nor any other candidate.
enum class TrialState : uint8_t { kMet, kTooSlow, kFailed, kWrongRequests, kNotTried };

struct Trial {
  Candidate candidate{};
  TrialState state = TrialState::kNotTried;
  std::string reason{};  // empty for kMet
  // The daemon's facts; empty and 0 unless the model served.
  std::string device{};
  uint32_t processes = 0;
  uint32_t lanes = 0;  // lanes of each process
  uint32_t max_batch_size = 0;
  std::optional<bench::LoadPoint> knee{};  // only for kMet
  double rate() const { return knee ? knee->answered : 0; }
};

// Starts a daemon, measures, and ends it. A failure becomes the trial's reason. Blocks.
Trial RunTrial(const TrialSetup& setup, const TuneConfig& config, const Candidate& candidate);

// Loads a daemon with `config` itself three times as long, at 0.9 of `knee`, then 0.8 and 0.7: a
// knee is the best of several measurements, so often too high. Returns the first point within the
// SLO, or the last. An error if the daemon does not serve. Blocks.
absl::StatusOr<bench::LoadPoint> Verify(const TrialSetup& setup, const TuneConfig& config,
                                        double knee);

// Ten times the SLO's bound, at most half a minute, and at least `wanted`: a shorter load does not
// show a growing queue. Pure.
absl::Duration LoadDuration(absl::Duration wanted, const bench::Slo& slo);

// So many clients load `lanes`. A `max_batch_size` of 0 means no batches. Pure.
uint32_t ManyClients(uint32_t lanes, uint32_t max_batch_size);

// Why no request was answered rightly; empty: some were. Pure.
std::string LoadFault(const bench::LoadPoint& point);

// One client alone waits longer than the SLO allows. Pure.
bool IsHopeless(const bench::LoadPoint& one_client, const bench::Slo& slo);

}  // namespace mpsd::tune
