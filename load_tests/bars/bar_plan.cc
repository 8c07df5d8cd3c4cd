#include "load_tests/bars/bar_plan.h"

#include "absl/strings/str_cat.h"

namespace mpsd::load {
namespace {

PlannedBar Bar(const BarsOptions& options, std::string name, std::vector<BarTask> tasks,
               uint32_t lanes) {
  PlannedBar bar;
  bar.name = std::move(name);
  bar.tasks = std::move(tasks);
  bar.lanes.lanes = lanes;
  bar.lanes.ns_max = options.limit_ns;
  bar.lanes.seed = options.seed;
  bar.lanes.faults_max = options.faults_max;
  return bar;
}

PlannedBar Rounds(const BarsOptions& options, uint32_t lanes, uint64_t rounds) {
  PlannedBar bar =
      Bar(options, absl::StrCat(lanes, "x", rounds), OneShapeEach(options.operators), lanes);
  bar.lanes.operations = lanes * rounds * bar.tasks.size();
  return bar;
}

PlannedBar Soak(const BarsOptions& options) {
  PlannedBar bar = Bar(options, "soak", ManyShapesEach(options.operators), options.soak_lanes);
  bar.lanes.operations = options.soak_operations;
  bar.lanes.has_random_order = true;
  return bar;
}

PlannedBar Rate(const BarsOptions& options, BarOperator kind, uint32_t processes, uint32_t lanes,
                const std::string& what) {
  const std::string count = absl::StrCat(processes * lanes);
  PlannedBar bar =
      Bar(options, absl::StrCat(NameOf(kind), ", ", count, " ", what), {LargeTask(kind)}, lanes);
  bar.series = absl::StrCat(NameOf(kind), ", ", what);
  bar.processes = processes;
  bar.lanes.ns_max = options.scaling_ns;
  return bar;
}

}  // namespace

std::vector<PlannedBar> PlanBars(const BarsOptions& options) {
  std::vector<PlannedBar> bars;
  if (options.parts.count("rounds") > 0) {
    for (const auto& [lanes, rounds] : options.rounds) {
      bars.push_back(Rounds(options, lanes, rounds));
    }
  }
  if (options.parts.count("soak") > 0) bars.push_back(Soak(options));
  for (const BarOperator kind : {BarOperator::kLayerNorm, BarOperator::kLinear}) {
    for (const uint32_t count : options.counts) {
      if (options.parts.count("threads") > 0) {
        bars.push_back(Rate(options, kind, /*processes=*/1, count, "threads"));
      }
    }
    for (const uint32_t count : options.counts) {
      if (options.parts.count("processes") > 0) {
        bars.push_back(Rate(options, kind, count, /*lanes=*/1, "processes"));
      }
    }
  }
  return bars;
}

}  // namespace mpsd::load
