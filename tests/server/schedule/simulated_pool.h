// SimulatedPool: a scheduler's decisions carried out on simulated lanes, by events in virtual time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "server/schedule/admission_forecast.h"
#include "server/schedule/scheduler.h"

namespace mpsd {

// What a batch of so many rows takes.
using TrueCurve = std::function<double(uint32_t rows)>;

struct SimulatedLoad {
  double requests_per_s = 0;  // Poisson arrivals; 0: a closed loop
  uint32_t clients = 0;       // of the closed loop
  int64_t return_ns = 0;      // from a client's answer to its next request, on average
  int64_t deadline_ns = 0;    // 0: none
  int64_t length_ns = 0;
};

struct SimulatedOutcome {
  uint64_t offered = 0;
  uint64_t good = 0;     // answered by their deadlines
  uint64_t late = 0;     // answered after them
  uint64_t refused = 0;  // on arrival
  uint64_t dropped = 0;  // while they waited
  uint64_t batches = 0;
  uint64_t rows = 0;
  double wait_ns = 0;  // of all that were answered, from arrival to answer
  double seconds = 0;

  double GoodPerS() const { return static_cast<double>(good) / seconds; }
  double MeanBatch() const { return static_cast<double>(rows) / static_cast<double>(batches); }
  double MeanNs() const { return wait_ns / static_cast<double>(good + late); }
};

// One line of requests of one row each, one worker, and what a pool knows: the curve, the returns,
// the usual batch. Deterministic by its seed. Lives on the test's thread.
class SimulatedPool {
 public:
  struct Options {
    uint32_t lanes = 1;
    uint32_t max_batch_rows = 64;
    uint64_t queue_requests = 512;
    bool refuses = true;  // in advance
    bool knows = true;    // the curve; without it the scheduler is eager
    double noise = 0.1;   // a batch takes as much more or less, at random
    uint32_t seed = 1;
  };

  SimulatedPool(const Scheduler* scheduler, TrueCurve curve, const Options& options);

  SimulatedOutcome Run(const SimulatedLoad& load);

 private:
  struct Waiting {
    int64_t arrival_ns = 0;
    int64_t deadline_ns = 0;
  };
  struct Lane {
    std::vector<Waiting> batch;
    int64_t begun_ns = 0;
    int64_t ends_ns = 0;
  };

  void Arrive();
  void Dispatch();
  void Start(uint32_t lane, uint32_t max_rows);
  void End(Lane* lane);
  SchedulerSnapshot Snapshot();
  LineView View() const;
  void At(int64_t when_ns, std::function<void()> event) {
    events_.emplace(when_ns, std::move(event));
  }
  double Exponential(double mean) {
    return std::exponential_distribution<double>(1 / mean)(random_);
  }

  const Scheduler* const scheduler_;
  const TrueCurve true_curve_;
  const Options options_;
  SimulatedLoad load_;
  SimulatedOutcome outcome_;
  std::mt19937_64 random_;
  int64_t now_ns_ = 1;
  std::multimap<int64_t, std::function<void()>> events_;
  std::multimap<int64_t, Waiting> line_;  // by deadline
  std::vector<Lane> lanes_;
  LatencyCurve curve_;
  ReturnForecast returns_;
  double usual_rows_ = 1;
  // The snapshot's spans.
  std::vector<LineView> line_views_;
  std::vector<LaneView> lane_views_;
  std::vector<WorkerView> worker_views_;
};

}  // namespace mpsd
