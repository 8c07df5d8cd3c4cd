// bench_verb: the verb `bench`: what latency and rate a model of a running server has under load.
//
// The server may be any of the protocol, over gRPC or HTTP. First come the loads of --clients and
// --rate, one after the other; then, with --slo, open-loop loads that close in on the highest one
// that meets it. A latency counts from the time at which a request was due, so a server that is
// late cannot hide it.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/bench/bench_inputs.h"
#include "client/cli/server_options.h"

namespace mpsd::cli {

// What requests are made of: options of `bench` and `tune`, as they stand on the command line.
struct LoadInputOptions {
  std::vector<std::string> inputs;  // NAME, NAME=3, NAME=0..99, NAME=@FILE.npy
  std::vector<std::string> shapes;  // NAME=1,16
  std::vector<int64_t> lengths;     // of open dims
  int64_t rows = 0;                 // 0: not given
  uint64_t seed = 1;
};

// The options as they stand on the command line; verbs.cc fills them.
struct BenchOptions {
  ServerOptions server;
  std::string model;
  LoadInputOptions requests;
  std::vector<uint32_t> clients;  // neither these nor rates: 1, 4, 16, 64
  std::vector<double> rates;
  double seconds = 3;            // of each load
  std::string slo;               // empty: none
  uint32_t knee_loads_max = 16;  // that the search for the SLO's knee tries
};

// The wishes that the options say, with the files that they name. INVALID_ARGUMENT names the
// option; other errors name the file. Thread-safe.
absl::StatusOr<bench::RequestWishes> ReadRequestWishes(const LoadInputOptions& options);

// Measures, and writes a line to `out` as each load is done, or JSON at the end; errors go to
// `err`. kExitServerError when no load meets the SLO, with a report, or when the server refuses.
// Returns an ExitCode. Blocks for all the loads. Thread-safe.
int RunBench(const BenchOptions& options, std::ostream& out, std::ostream& err);

}  // namespace mpsd::cli
