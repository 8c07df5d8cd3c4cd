// BenchOptions: the command line of mpsd-bench.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/traffic/load_run.h"
#include "client/traffic/request_set.h"
#include "client/traffic/trace.h"

namespace mpsd::load {

// A CSV file with the calls to send, and the filters that choose its rows.
struct TraceFile {
  std::string path;  // empty: there is none
  std::vector<traffic::TraceFilter> filters;
  int64_t bin_ns = 0;
};

struct BenchOptions {
  traffic::LoadPlan plan;
  std::vector<std::string> models = {"identity"};  // all get the same inputs
  double skew = 0;                // the nth model's share is n to the power of minus this
  TraceFile trace;                // source of the plan's arrivals
  traffic::RequestPlan requests;  // model and share are replaced for each model
  bool frames = false;            // FramePumps instead of gRPC's client
  bool json = false;
  bool allow_errors = false;  // exit 0 even if calls failed
};

// Returns an exit status if the process should end at once: 0 after help, another one after a wrong
// flag or a missing file. Called once, on main's thread.
std::optional<int> ParseCommandLine(int argc, char** argv, BenchOptions* options);

}  // namespace mpsd::load
