// bench_verb: the verb `bench`: a running server's latency and rate for a model under load.
//
// Works with any server of the protocol, over gRPC or HTTP. First come the loads of --clients and
// --rate, one after another. Then, with --slo, open-loop loads approach the highest one that meets
// it. A latency counts from the time at which a request was due, so a server that is late cannot
// hide that.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/bench/bench_inputs.h"
#include "client/cli/server_options.h"

namespace mpsd::cli {

// The requests' contents: options of `bench` and `tune`, as on the command line.
struct LoadInputOptions {
  std::vector<std::string> inputs;  // NAME, NAME=3, NAME=0..99, NAME=@FILE.npy
  std::vector<std::string> shapes;  // NAME=1,16
  std::vector<int64_t> lengths;     // lengths of open dims, to choose from
  int64_t rows = 0;                 // 0: not given
  uint64_t seed = 1;
};

// The options as on the command line; verbs.cc fills them.
struct BenchOptions {
  ServerOptions server;
  std::string model;
  LoadInputOptions requests;
  std::vector<uint32_t> clients;  // without these and rates: 1, 4, 16, 64
  std::vector<double> rates;
  double seconds = 3;            // for each load
  std::string slo;               // empty: none
  uint32_t knee_loads_max = 16;  // limit of the search for the SLO's knee
};

// The wishes in the options, with the files that they name. INVALID_ARGUMENT names the option;
// other errors name the file. Thread-safe.
absl::StatusOr<bench::RequestWishes> ReadRequestWishes(const LoadInputOptions& options);

// Measures, and writes a line to `out` after each load, or JSON at the end; errors go to `err`. The
// code is kExitServerError, with a report, if no load meets the SLO, and also if the server
// refuses. Returns an ExitCode. Blocks for all the loads. Thread-safe.
int RunBench(const BenchOptions& options, std::ostream& out, std::ostream& err);

}  // namespace mpsd::cli
