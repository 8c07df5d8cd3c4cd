// bench_verb: the verb `bench`: a running server's latency and rate for a model under load.
//
// For any server of the protocol, over gRPC or HTTP. First come the loads of --clients and --rate.
// Then, with --slo, open loops approach the highest load that meets it.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/bench/bench_inputs.h"
#include "client/cli/server_options.h"

namespace mpsd::cli {

// The verbs `bench` and `tune` share these.
struct LoadInputOptions {
  std::vector<std::string> inputs;  // NAME, NAME=3, NAME=0..99, NAME=@FILE.npy
  std::vector<std::string> shapes;  // NAME=1,16
  std::vector<int64_t> lengths;     // for open dims
  int64_t rows = 0;                 // 0: not given
  uint64_t seed = 1;
};

// Filled by verbs.cc.
struct BenchOptions {
  ServerOptions server;
  std::string model;
  LoadInputOptions requests;
  std::vector<uint32_t> clients;  // without these and rates: 1, 4, 16, 64
  std::vector<double> rates;
  double seconds = 3;            // for each load
  std::string slo;               // empty: none
  uint32_t knee_loads_max = 16;  // limits the search for the SLO's knee
};

// Reads the files too. INVALID_ARGUMENT names the option; other errors name the file. Thread-safe.
absl::StatusOr<bench::RequestWishes> ReadRequestWishes(const LoadInputOptions& options);

// Writes a line to `out` after each load, or JSON at the end. kExitServerError, with a report, if
// no load meets the SLO, and also if the server refuses. Blocks. Thread-safe.
int RunBench(const BenchOptions& options, std::ostream& out, std::ostream& err);

}  // namespace mpsd::cli
