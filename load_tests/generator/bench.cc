// mpsd-bench: a load generator for servers of the Open Inference Protocol over gRPC.
//
// Run with:
//   mpsd-bench --target 127.0.0.1:8001 --model identity --input 'INPUT0:FP32[1,256]'
//     --concurrency 64 --verify-identity

#include <cstdio>
#include <optional>
#include <vector>

#include "client/traffic/load_run.h"
#include "client/traffic/request_set.h"
#include "load_tests/generator/bench_options.h"
#include "load_tests/generator/bench_report.h"
#include "nlohmann/json.hpp"

int main(int argc, char** argv) {
  using namespace mpsd::load;
  BenchOptions options;
  if (const std::optional<int> exit_status = ParseCommandLine(argc, argv, &options)) {
    return *exit_status;
  }
  const auto requests = mpsd::traffic::PrepareRequests(options.requests);
  if (!requests.ok()) {
    std::fprintf(stderr, "mpsd-bench: %s\n", requests.status().ToString().c_str());
    return 64;
  }
  const auto result = mpsd::traffic::RunLoad(options.plan, *requests);
  if (!result.ok()) {
    std::fprintf(stderr, "mpsd-bench: %s\n", result.status().ToString().c_str());
    return 69;
  }
  const std::string report = options.json ? ReportJson(options.plan, *result).dump() + "\n"
                                          : ReportText(options.plan, *result);
  std::fputs(report.c_str(), stdout);
  return mpsd::traffic::AllRight(*result) || options.allow_errors ? 0 : 1;
}
