// tune_verb: the verb `tune`: finds the config with which a model serves the most requests within
// an SLO, by measurement on this host.
//
//   config ─▶ TunePlan ─▶ a private daemon and its load for each candidate ─▶ the best
//                                              ─▶ the changed config ─▶ verified under load
//
// The user's daemon should not run: candidates want the cores for themselves.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/bench_verb.h"

namespace mpsd::cli {

// The options as on the command line; verbs.cc fills them.
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
  std::string program;  // empty: this program; checks and serves configs
  std::vector<std::string> places = {"mpsd.json", "/etc/mpsd/mpsd.json"};  // where a config may be
};

// Measures, and writes a line to `out` for each candidate, then the best and whether it holds; or
// JSON at the end. Errors go to `err`.
//
// The code is kExitUsage for wrong options, an existing output, and requests that do not fit the
// model. The code is kExitWrongConfig for a config without the model, or with mistakes, in the
// daemon's words. The code is kExitServerError if the model does not get ready, no candidate meets
// the SLO, or the best fails its verification.
//
// Blocks for the budget and the verification. While it runs, SIGINT and SIGTERM wait until the
// current daemon has ended; then they end this process, unless its caller blocks them. Called on
// main's thread, before there are other threads. Returns an ExitCode.
int RunTune(const TuneOptions& options, std::ostream& out, std::ostream& err);

}  // namespace mpsd::cli
