// tune_report: the output of `tune`: a line for each measured candidate, the results, or JSON at
// the end.
//
//   CANDIDATE                      WORKERS     KNEE/S       P50       P99  BATCH  NOTE
//   as configured                  1x1          412.0   4.03 ms   18.2 ms    6.1
//   1 x 2 x 1                      1x2          790.5   4.31 ms     19 ms    3.2
//
// The lines are for people and may change. The JSON is one object, whose keys stay. A candidate is
// named by its workers, lanes of each, and threads of each lane.
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

// A value.
struct TuneReport {
  std::string model;
  std::string config;   // the user's file
  std::string output;   // may be empty
  uint32_t cores = 0;   // cores of this host
  uint64_t others = 0;  // other models of the config, not served now
  bench::Slo slo;
  std::vector<tune::Trial> trials;  // in order, also those not tried
  std::optional<tune::Trial> best;  // among trials that met the SLO
  nlohmann::ordered_json changes;   // to the model's stanza
  std::optional<bench::LoadPoint> verified;
};

// Lines have line breaks. Latencies are those at the knee. A candidate that was not tried, or met
// the SLO at no load, has dashes and a note. Pure.
std::string TuneTitles();
std::string TrialLine(const tune::Trial& trial);

// The best candidate and its changes, before verification. REQUIRES: there is one. Pure.
std::string BestText(const TuneReport& report);

// Expected and seen figures, and whether the SLO held. They differ if the host has other work.
// REQUIRES: there is a best and it was verified. Pure.
std::string VerifiedText(const TuneReport& report);

// {"model", "config", "cores", "slo", "candidates": [{"placement", "max_batch_size", "precision",
// "state", "reason", "workers", "knee"}], "best": its index, "changes", "output", "verified"}.
// Missing values are null. Pure.
std::string TuneJson(const TuneReport& report);

}  // namespace mpsd::cli
