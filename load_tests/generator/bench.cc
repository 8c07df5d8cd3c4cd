// mpsd-bench: a load generator for servers of the Open Inference Protocol over gRPC.
//
// Run with:
//   mpsd-bench --target 127.0.0.1:8001 --model identity --input 'INPUT0:FP32[1,256]'
//     --concurrency 64 --verify-identity

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "client/traffic/load_run.h"
#include "client/traffic/request_set.h"
#include "load_tests/generator/bench_options.h"
#include "load_tests/generator/bench_report.h"
#include "load_tests/generator/make_frame_pump.h"
#include "nlohmann/json.hpp"

namespace mpsd::load {
namespace {

// Each with its model's share of the calls.
absl::StatusOr<std::vector<traffic::PreparedRequest>> RequestsOf(const BenchOptions& options) {
  std::vector<traffic::PreparedRequest> all;
  for (size_t i = 0; i < options.models.size(); ++i) {
    traffic::RequestPlan plan = options.requests;
    plan.model = options.models[i];
    plan.share = std::pow(static_cast<double>(i + 1), -options.skew);
    absl::StatusOr<std::vector<traffic::PreparedRequest>> own = traffic::PrepareRequests(plan);
    if (!own.ok()) return own.status();
    std::move(own->begin(), own->end(), std::back_inserter(all));
  }
  return all;
}

absl::StatusOr<traffic::LoadResult> Run(const BenchOptions& options,
                                        const std::vector<traffic::PreparedRequest>& requests) {
  if (!options.frames) return traffic::RunLoad(options.plan, requests);
  return traffic::RunLoadWith(
      options.plan, [&](uint32_t thread) { return MakeFramePump(options.plan, requests, thread); });
}

}  // namespace
}  // namespace mpsd::load

int main(int argc, char** argv) {
  using namespace mpsd::load;
  BenchOptions options;
  if (const std::optional<int> exit_status = ParseCommandLine(argc, argv, &options)) {
    return *exit_status;
  }
  const auto requests = RequestsOf(options);
  if (!requests.ok()) {
    std::fprintf(stderr, "mpsd-bench: %s\n", requests.status().ToString().c_str());
    return 64;
  }
  const auto result = Run(options, *requests);
  if (!result.ok()) {
    std::fprintf(stderr, "mpsd-bench: %s\n", result.status().ToString().c_str());
    return 69;
  }
  const std::string report = options.json ? ReportJson(options.plan, *result).dump() + "\n"
                                          : ReportText(options.plan, *result);
  std::fputs(report.c_str(), stdout);
  return mpsd::traffic::AllRight(*result) || options.allow_errors ? 0 : 1;
}
