// BenchOptions: the command line of mpsd-bench.
//
// The only file of the folder that knows flags; `mpsd-bench --help` lists them. main (bench.cc)
// goes from here to PrepareRequests(), RunLoad() and the report.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/traffic/load_run.h"
#include "client/traffic/request_set.h"
#include "client/traffic/trace.h"

namespace mpsd::load {

// A file of CSV that has the calls to send, and which of its rows count.
struct TraceFile {
  std::string path;  // empty: there is none
  std::vector<traffic::TraceFilter> filters;
  int64_t bin_ns = 0;
};

// All that the command line says. Constant once parsed.
struct BenchOptions {
  traffic::LoadPlan plan;
  std::vector<std::string> models = {"identity"};  // all get the same inputs
  double skew = 0;                // the nth of them gets a share of n to the power of minus this
  TraceFile trace;                // what the plan's arrivals were read from
  traffic::RequestPlan requests;  // its model and share are for each model's own
  bool frames = false;            // FramePumps instead of gRPC's client
  bool json = false;              // the report is one line of JSON
  bool allow_errors = false;      // exit 0 even if calls failed
};

// Fills `options`, and reads the files that flags name. Returns an exit status when the process
// should end at once: 0 when help was asked for, another one when a flag is wrong, contradicts
// another or names a file that is not there; stderr says which. Called once, on main's thread.
std::optional<int> ParseCommandLine(int argc, char** argv, BenchOptions* options);

}  // namespace mpsd::load
