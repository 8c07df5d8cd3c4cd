// tune_report: what `tune` writes: a line for each candidate as it is measured, what came of them,
// or JSON at the end.
//
//   CANDIDATE                      WORKERS     KNEE/S       P50       P99  BATCH  NOTE
//   as configured                  1x1          412.0   4.03 ms   18.2 ms    6.1
//   1 x 2 x 1                      1x2          790.5   4.31 ms     19 ms    3.2
//
// The lines are for people and may change. The JSON is for programs: its keys stay, and it is one
// object. A candidate is named by its workers, lanes of each, and threads of each lane.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/bench/load_point.h"
#include "client/bench/slo.h"
#include "client/tune/trial.h"
#include "client/tune/tune_config.h"
#include "nlohmann/json.hpp"

namespace mpsd::cli {

// All that a run of the verb has found. A value.
struct TuneReport {
  std::string model;
  std::string config;   // the user's file
  std::string output;   // the file that was written; empty: none
  uint32_t cores = 0;   // of this host
  uint64_t others = 0;  // models of the config, which were not served meanwhile
  bench::Slo slo;
  std::vector<tune::Trial> trials;  // in their order, those that were not tried too
  std::optional<tune::Trial> best;  // of those that met the SLO
  nlohmann::ordered_json changes;   // to the model's stanza
  std::optional<bench::LoadPoint> verified;
};

// The titles of the columns, and a line for a candidate, which ends with a line break. A knee's
// latencies are those at the knee; a candidate that was not tried, or met the SLO at no load, has
// dashes and a note that says why. Pure.
std::string TuneTitles();
std::string TrialLine(const tune::Trial& trial);

// The best candidate and what it changes, before it is verified. REQUIRES: there is one. Pure.
std::string BestText(const TuneReport& report);

// What was expected of the best, what was seen, and whether the SLO held. The two differ where the
// host has other work meanwhile: a user reads here whether to believe the numbers above.
// REQUIRES: there is a best and it was verified. Pure.
std::string VerifiedText(const TuneReport& report);

// {"model", "config", "cores", "slo", "candidates": [{"placement", "max_batch_size", "precision",
// "state", "reason", "workers", "knee"}], "best": its index, "changes", "output", "verified"}. What
// there is not is null. Pure.
std::string TuneJson(const TuneReport& report);

}  // namespace mpsd::cli
