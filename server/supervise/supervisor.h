// Supervisor: keeps the workers of all models alive.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/random/random.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/clock.h"
#include "proto/base/memory_pressure.h"
#include "server/pool/plane/completion_thread.h"
#include "server/pool/plane/plane.h"
#include "server/pool/pool.h"
#include "server/request/served_model.h"
#include "server/request/worker_status.h"
#include "server/supervise/memory_budget.h"
#include "server/supervise/process/worker_host.h"
#include "server/supervise/status_board.h"
#include "server/supervise/supervise_services.h"
#include "server/supervise/supervised_model.h"
#include "server/supervise/worker_group.h"
#include "server/telemetry/log/log.h"

namespace mpsd {

// All about processes happens on its one thread:
//
//   take news: models added or retired, workers condemned ─▶ tick every group, start what is due
//      ▲                                                                               │
//      └─ hand events to their workers ◀── wait for an event, a wake-up or the time ◀──┘
//
// Other threads leave news under mu_ and wake it, or read the StatusBoard. WorkerGroup decides, by
// the files of policy/. A worker's fault ends that worker alone. Owned by the daemon, stopped after
// the HTTP server. Thread-safe, except that main calls Start() and Stop().
class Supervisor final : public PoolKeeper, public WorkerStatusSource {
 public:
  struct MemoryLimits {
    uint64_t shared_bytes = 0;   // for all models; 0: as much as the host has
    uint64_t clients_bytes = 0;  // see MemoryBudget
  };

  Supervisor(std::unique_ptr<WorkerHost> host, const MemoryLimits& memory, Plane* plane,
             const Clock* clock, Logger* logger);
  ~Supervisor() override;

  // Its workers start as soon as the thread runs. REQUIRES: `model.served` was not added before.
  void Add(SupervisedModel model);

  // Closes the pool. Once it is empty the workers end, and the model is forgotten. Never waits.
  // REQUIRES: the model was added, and requests do not find it any more.
  void Retire(const std::shared_ptr<ServedModel>& model);

  // Called at most once, after the config's models were added. After an error there is no thread.
  absl::Status Start();

  // Blocks for up to 300 ms, then kills what is left. REQUIRES: all requests have ended.
  // Idempotent.
  void Stop();

  // RESOURCE_EXHAUSTED if no model serves and none fits in memory.
  absl::Status WaitUntilSettled(const std::function<bool()>& give_up) {
    return board_.WaitUntilSettled(give_up);
  }

  std::vector<std::string> Unsettled() const { return board_.Unsettled(); }

  // As StatusBoard does.
  absl::Status WaitUntilServing(const ServedModel& model, const std::function<bool()>& give_up) {
    return board_.WaitUntilServing(model, give_up);
  }

  // As StatusBoard does.
  absl::Status Fault(const ServedModel& model) const { return board_.Fault(model); }

  // Workers are told at the next tick; groups may replace some (pressure_policy.h).
  void SetMemoryPressure(MemoryPressure pressure) { pressure_ = pressure; }

  // ---- PoolKeeper ----

  // The supervisor's thread kills the worker, unless that incarnation is gone by then.
  void Condemn(const ServedModel& model, uint32_t worker, uint32_t epoch,
               const std::string& reason) override ABSL_LOCKS_EXCLUDED(mu_);

  // Has pools drained by `when_ns` (Plane::DrainBy). If that is now, a pool wants memory, and all
  // groups are looked at.
  void WakeBy(int64_t when_ns) override;

  void WakePools() override { services_.plane->DrainBy(0); }

  // ---- WorkerStatusSource ----
  std::vector<WorkerInfo> Workers(const ServedModel& model) const override {
    return board_.Workers(model);
  }
  std::string Circuit(const ServedModel& model) const override { return board_.Circuit(model); }
  std::vector<OtherGeneration> Others(const ServedModel& model) const override {
    return board_.Others(model);
  }

 private:
  struct Sentence {
    const ServedModel* model = nullptr;
    uint32_t worker = 0;
    uint32_t epoch = 0;
    std::string reason;
  };

  void Main();
  void TakeNews() ABSL_EXCLUSIVE_LOCKS_REQUIRED(services_.thread);
  void Tick() ABSL_EXCLUSIVE_LOCKS_REQUIRED(services_.thread);
  void Wait(int64_t timeout_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(services_.thread);
  int64_t NextTimeoutNs() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(services_.thread);
  void KillCondemned(const std::vector<Sentence>& condemned)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(services_.thread);
  void EndAll() ABSL_EXCLUSIVE_LOCKS_REQUIRED(services_.thread);
  bool HasProcess() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(services_.thread);
  WorkerGroup* Find(const ServedModel* model) ABSL_EXCLUSIVE_LOCKS_REQUIRED(services_.thread);

  // Self-synchronized.
  const std::unique_ptr<WorkerHost> host_;
  StatusBoard board_;
  CompletionThread completions_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> tick_wanted_{false};
  std::atomic<MemoryPressure> pressure_{MemoryPressure::kNone};

  // Owned by the supervisor's thread.
  MemoryBudget budget_;
  SuperviseServices services_;
  absl::BitGen random_ ABSL_GUARDED_BY(services_.thread);
  std::vector<std::unique_ptr<WorkerGroup>> groups_ ABSL_GUARDED_BY(services_.thread);
  int64_t next_tick_ns_ ABSL_GUARDED_BY(services_.thread) = 0;

  // News for the supervisor's thread.
  absl::Mutex mu_;
  std::vector<Sentence> condemned_ ABSL_GUARDED_BY(mu_);
  std::vector<SupervisedModel> added_ ABSL_GUARDED_BY(mu_);
  std::vector<std::shared_ptr<ServedModel>> retired_ ABSL_GUARDED_BY(mu_);

  std::thread thread_;  // used by main
};

}  // namespace mpsd
