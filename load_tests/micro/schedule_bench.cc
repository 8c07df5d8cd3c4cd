// Measures a scheduling decision and the check that lets a request in, with many lanes and lines.
// Each line has half a batch, and a quarter is expected to come.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "server/pool/schedule/admission_forecast.h"
#include "server/pool/schedule/predictive_scheduler.h"

namespace mpsd {
namespace {

constexpr int64_t kNowNs = 1'000'000'000;
constexpr int64_t kDeadlineNs = kNowNs + 15'000'000;
constexpr uint32_t kMostRows = 64;

class Scene {
 public:
  Scene(int64_t lanes, int64_t lines, bool has_free_lane) {
    for (uint32_t rows = 1; rows <= kMostRows; ++rows) {
      for (int i = 0; i < 2; ++i) curve_.Note(rows, 850'000 + 107'000 * rows);
    }
    workers_ = {{.first_lane = 0, .batches = static_cast<uint32_t>(lanes)}};
    lanes_.assign(static_cast<size_t>(lanes), {0, 1, kNowNs + 1'000'000});
    if (has_free_lane) lanes_.back() = {0, 0, 0};
    lines_.assign(static_cast<size_t>(lines), {.rows = kMostRows / 2,
                                               .head_rows = 1,
                                               .head_arrival_ns = kNowNs - 100'000,
                                               .head_deadline_ns = kDeadlineNs,
                                               .head_answer_deadline_ns = kDeadlineNs,
                                               .tail_deadline_ns = kDeadlineNs,
                                               .curve = &curve_});
  }

  SchedulerSnapshot snapshot() const {
    return {.lines = lines_,
            .lanes = lanes_,
            .workers = workers_,
            .max_batch_rows = kMostRows,
            .usual_batch_rows = kMostRows / 2,
            .returns = {.requests = 16,
                        .by_ns = kNowNs + 300'000,
                        .answered = 32,
                        .round_ns = 500'000,
                        .spread_ns = 400'000}};
  }
  const LatencyCurve& curve() const { return curve_; }

 private:
  LatencyCurve curve_;
  std::vector<LineView> lines_;
  std::vector<LaneView> lanes_;
  std::vector<WorkerView> workers_;
};

void Decide(benchmark::State& state) {
  const Scene scene(state.range(0), state.range(1), true);
  const PredictiveScheduler scheduler(1, 0);
  const SchedulerSnapshot snapshot = scene.snapshot();
  for (auto _ : state) benchmark::DoNotOptimize(scheduler.Decide(snapshot, kNowNs));
}
BENCHMARK(Decide)
    ->ArgNames({"lanes", "lines"})
    ->Args({1, 1})
    ->Args({8, 1})
    ->Args({64, 1})
    ->Args({64, 8});

void DecideWithoutALane(benchmark::State& state) {
  const Scene scene(state.range(0), 1, false);
  const PredictiveScheduler scheduler(1, 0);
  const SchedulerSnapshot snapshot = scene.snapshot();
  for (auto _ : state) benchmark::DoNotOptimize(scheduler.Decide(snapshot, kNowNs));
}
BENCHMARK(DecideWithoutALane)->ArgName("lanes")->Arg(1)->Arg(64);

void LetIn(benchmark::State& state) {
  const Scene scene(state.range(0), 1, false);
  const SchedulerSnapshot snapshot = scene.snapshot();
  const Arrival arrival = {.curve = &scene.curve(),
                           .rows_ahead = kMostRows / 2,
                           .deadline_ns = kDeadlineNs,
                           .answer_deadline_ns = kDeadlineNs};
  for (auto _ : state) benchmark::DoNotOptimize(Foresee(arrival, snapshot, kNowNs));
}
BENCHMARK(LetIn)->ArgName("lanes")->Arg(1)->Arg(64);

}  // namespace
}  // namespace mpsd
