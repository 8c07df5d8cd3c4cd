// tune_verb: the verb `tune`: finds the config with which a model serves the most requests within
// an SLO on this host.
//
//   config ─▶ TunePlan ─▶ a private daemon and its load for each candidate ─▶ the best
//                                              ─▶ the changed config ─▶ verified under load
//
// The user's daemon should not run: candidates want the cores.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/bench_verb.h"

namespace mpsd::cli {

// Filled by verbs.cc.
struct TuneOptions {
  std::string model;
  std::string slo;
  std::string config;  // empty: as `mpsd serve` finds one
  std::string output;  // empty: not written
  bool force = false;  // overwrites `output`
  std::string budget = "5m";
  double seconds = 2;  // for each load
  std::string start_timeout = "2m";
  std::vector<std::string> precisions;
  LoadInputOptions requests;
  bool json = false;
  std::string program;  // empty: this one; checks and serves configs
  std::vector<std::string> places = {"mpsd.json", "/etc/mpsd/mpsd.json"};  // where a config may be
};

// Writes a line to `out` for each candidate, then the best and whether it holds; or JSON at the
// end.
//
//   kExitUsage         wrong options, an existing output, requests that do not fit the model
//   kExitWrongConfig   a config without the model, or with mistakes, in the daemon's words
//   kExitServerError   the model does not get ready, no candidate meets the SLO, or the best fails
//                      its verification
//
// Blocks for the budget and the verification. SIGINT and SIGTERM wait until the current daemon has
// ended; then they end this process, unless its caller blocks them. Called on main's thread, before
// there are other threads.
int RunTune(const TuneOptions& options, std::ostream& out, std::ostream& err);

}  // namespace mpsd::cli
