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

// How candidates are measured: the same for all of a run.
struct TrialSetup {
  std::string program;  // the mpsd to run
  bench::Slo slo;
  bench::RequestWishes requests;
  absl::Duration duration = absl::Seconds(2);  // of each load, see LoadDuration()
  absl::Duration start_limit = absl::Minutes(2);
  std::function<bool()> stop;  // the trial ends soon after it says so
};

// kTooSlow: it serves, but nothing within the SLO. kFailed: it does not serve, or answers nothing
// rightly. kWrongRequests: what the user says of the requests does not fit the model, so no other
// candidate can be measured either.
enum class TrialState : uint8_t { kMet, kTooSlow, kFailed, kWrongRequests, kNotTried };

struct Trial {
  Candidate candidate{};
  TrialState state = TrialState::kNotTried;
  std::string reason{};  // of all but kMet
  // What the daemon said of the model; empty and 0 unless it served.
  std::string device{};
  uint32_t processes = 0;
  uint32_t lanes = 0;  // of each process
  uint32_t max_batch_size = 0;
  std::optional<bench::LoadPoint> knee{};  // of kMet
  double rate() const { return knee ? knee->answered : 0; }
};

// Starts a daemon for the candidate, measures, and ends it. Every failure is a reason of the trial.
// Blocks for all that.
Trial RunTrial(const TrialSetup& setup, const TuneConfig& config, const Candidate& candidate);

// What a daemon with `config`, which no candidate changes any more, bears for three times the
// duration of a load: 0.9 of the `knee`, or 0.8 or 0.7 where more does not hold the SLO. A knee is
// the best of several measurements, and so is often better than the truth. The first of them that
// holds, or else the last. An error where the daemon does not serve. Blocks.
absl::StatusOr<bench::LoadPoint> Verify(const TrialSetup& setup, const TuneConfig& config,
                                        double knee);

// How long a load has to be, `wanted` at least: ten times what the SLO allows, and at most half a
// minute for that. In a shorter time the queue of a server that falls behind does not grow enough
// to be seen. Pure.
absl::Duration LoadDuration(absl::Duration wanted, const bench::Slo& slo);

// How many clients show what so many lanes can do with batches of so many rows, 0 for none. Pure.
uint32_t ManyClients(uint32_t lanes, uint32_t max_batch_size);

// What became of the requests of a load of which none was answered rightly; empty: some were. Pure.
std::string LoadFault(const bench::LoadPoint& point);

// Whether one client alone waits longer than the SLO allows, so that no rate can meet it. Pure.
bool IsHopeless(const bench::LoadPoint& one_client, const bench::Slo& slo);

}  // namespace mpsd::tune
