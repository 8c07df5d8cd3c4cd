// SimulatedPool: a scheduler's decisions carried out on simulated lanes, by events in virtual time.
//
//   client ─▶ door ─▶ admission ─▶ line ─▶ Scheduler ─▶ lane ─▶ door ─▶ lag ─▶ client
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "server/pool/schedule/admission_forecast.h"
#include "server/pool/schedule/admission_margin.h"
#include "server/pool/schedule/replica_forecast.h"
#include "server/pool/schedule/scheduler.h"
#include "server/pool/schedule/standing_queue.h"
#include "server/pool/schedule/tenant_shares.h"

namespace mpsd {

// In nanoseconds.
using TrueCurve = std::function<double(uint32_t rows)>;

struct SimulatedLoad {
  double requests_per_s = 0;  // Poisson arrivals; 0: a closed loop
  uint32_t clients = 0;       // in the closed loop
  int64_t return_ns = 0;      // mean, from an answer to the client's next request
  int64_t deadline_ns = 0;    // 0: none
  double urgent_share = 0;    // with rank 0; the others have rank 2
  double victim_share = 0;    // tenant 1's; the others are tenant 0's
  int64_t length_ns = 0;
};

struct OutcomeOfTenant {
  uint64_t ended = 0;  // with any outcome
  uint64_t good = 0;
  double lane_ns = 0;            // its part of its batches' time
  std::vector<int64_t> took_ns;  // for each answer, from arrival

  double GoodShare() const { return static_cast<double>(good) / static_cast<double>(ended); }
  int64_t QuantileNs(double quantile) const;  // 0: none was answered
};

struct SimulatedOutcome {
  uint64_t offered = 0;
  uint64_t good = 0;     // by their deadlines
  uint64_t late = 0;     // after their deadlines
  uint64_t refused = 0;  // on arrival
  uint64_t dropped = 0;  // while they waited
  uint64_t batches = 0;
  uint64_t rows = 0;
  uint64_t expired_rows = 0;  // given to a lane after their deadline
  uint64_t urgent_offered = 0;
  uint64_t urgent_good = 0;
  int64_t longest_wait_ns = 0;  // from arrival to batch, in the second half
  double wait_ns = 0;           // sum over answers, from arrival
  double seconds = 0;
  std::array<OutcomeOfTenant, 2> tenants;

  double GoodPerS() const { return static_cast<double>(good) / seconds; }
  double MeanBatch() const { return static_cast<double>(rows) / static_cast<double>(batches); }
  double MeanNs() const { return wait_ns / static_cast<double>(good + late); }
};

// One line of requests of one row, one or two ranks and tenants, one worker. Learns like a pool.
// Deterministic by its seed. Lives on one thread.
class SimulatedPool {
 public:
  struct Options {
    uint32_t lanes = 1;
    uint32_t max_batch_rows = 64;
    uint64_t queue_requests = 512;
    bool refuses = true;    // refuses late requests in advance
    int64_t slo_ns = 0;     // for ReplicasNeeded(); 0: none
    int64_t target_ns = 0;  // StandingQueue's target, for requests without a deadline
    bool knows = true;      // knows the curve; otherwise the scheduler is eager
    bool is_fair = true;
    bool is_careful = true;
    double noise = 0.1;   // a batch takes up to this part more or less
    int64_t lag_ns = 0;   // mean way of an answer to its client
    int64_t door_ns = 0;  // client's and front end's time for each request
    uint32_t seed = 1;
  };

  SimulatedPool(const Scheduler* scheduler, TrueCurve curve, const Options& options);

  // Requests that wait or run at the end stay for the next run.
  SimulatedOutcome Run(const SimulatedLoad& load);

  // Requests in the line, and ReplicaForecast::At(), after a run.
  uint64_t Waits() const;
  double ReplicasNeeded() const { return needs_.replicas; }

 private:
  struct Waiting {
    int64_t arrival_ns = 0;
    int64_t deadline_ns = 0;
    uint32_t rank = 0;
    uint32_t tenant = 0;
    uint32_t run = 0;
    bool is_tried = false;
  };
  using Line = std::multimap<int64_t, Waiting>;  // by deadline
  struct Lane {
    std::vector<Waiting> batch;
    int64_t begun_ns = 0;
    int64_t ends_ns = 0;
  };

  void Arrive(uint32_t run);
  void Admit(Waiting request);
  void NoteOffered();
  void Dispatch();
  void WakeAt(int64_t when_ns);
  void Start(uint32_t lane, uint32_t max_rows);
  void End(Lane* lane);
  void Answer(const Waiting& request);
  void PassDoor(std::function<void()> event);
  SchedulerSnapshot Snapshot();
  LineView View() const;
  int64_t BackByNs(int64_t deadline_ns) const;
  int64_t LagNs();
  bool Happens(double share);
  Waiting NewRequest();
  void Count(const Waiting& request, int64_t took_ns, bool is_good);
  bool IsFull(const Waiting& request) const;
  uint64_t RowsBefore(const Waiting& request) const;
  Line::iterator First(Line* line) const;
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
  std::map<uint32_t, Line> ranks_;  // none of them is empty
  std::vector<Lane> lanes_;
  LatencyCurve curve_;
  ReturnForecast returns_;
  AdmissionMargin margin_;
  StandingQueue standing_;
  ReplicaForecast replicas_;
  ReplicaForecast::Needs needs_;
  int64_t needs_ns_ = 0;
  TenantShares shares_;
  int64_t end_ns_ = 0;
  int64_t door_free_ns_ = 0;
  int64_t wake_ns_ = SchedulerDecision::kNever;  // when the scheduler is asked again
  uint32_t run_ = 0;                             // the run whose arrivals count
  double usual_rows_ = 1;
  // The snapshot's spans.
  std::vector<LineView> line_views_;
  std::vector<LaneView> lane_views_;
  std::vector<WorkerView> worker_views_;
};

}  // namespace mpsd
