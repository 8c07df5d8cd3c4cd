// Supervisor: keeps the workers of all models alive.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/clock.h"
#include "proto/base/platform.h"
#include "server/dispatch/completion_thread.h"
#include "server/dispatch/plane.h"
#include "server/dispatch/pool.h"
#include "server/request/served_model.h"
#include "server/request/worker_status.h"
#include "server/supervise/memory_budget.h"
#include "server/supervise/process/folder_remover.h"
#include "server/supervise/status_board.h"
#include "server/supervise/supervise_services.h"
#include "server/supervise/supervised_model.h"
#include "server/supervise/worker_group.h"
#include "server/telemetry/log/log.h"

namespace mpsd {

struct SupervisorOptions {
  std::string worker_binary;
  std::string temporary_folder;  // of this daemon alone
  uint64_t shared_memory_bytes = 0;
};

// One thread of its own starts, watches and reaps all workers. No request waits for that thread:
// completions and the pools' time have a thread of their own, and what is left in folders goes on a
// third. Start() and Stop() are called once each, from main; the others are thread-safe.
class Supervisor final : public PoolKeeper, public WorkerStatusSource {
 public:
  Supervisor(SupervisorOptions options, Plane* plane, const Clock* clock, Logger* logger);
  ~Supervisor() override;

  // Starts the model's workers as soon as the thread runs.
  void Add(SupervisedModel model);

  // Closes the model's pool; once nothing is inside any more its workers end, and it is forgotten.
  // REQUIRES: it was added, and is not published any more.
  void Retire(const std::shared_ptr<ServedModel>& model);

  // Starts the thread, which starts the workers.
  absl::Status Start();

  // Blocks until every added model either serves or has failed to start once, or `give_up` says so;
  // asks a few times a second. RESOURCE_EXHAUSTED when a configured model does not fit in memory.
  absl::Status WaitUntilSettled(const std::function<bool()>& give_up) {
    return board_.WaitUntilSettled(give_up);
  }

  // The same for one model: OK once all its workers serve, else why one failed to start. CANCELLED
  // when `give_up` said so.
  absl::Status WaitUntilServing(const ServedModel& model, const std::function<bool()>& give_up) {
    return board_.WaitUntilServing(model, give_up);
  }

  // Why no worker of the model serves; OK while one does, or the first are on their way.
  absl::Status Fault(const ServedModel& model) const { return board_.Fault(model); }

  // Ends all workers and the thread. Requests must have ended before. Idempotent.
  void Stop();

  void Condemn(const ServedModel& model, uint32_t worker, uint32_t epoch,
               const std::string& reason) override;
  void WakeBy(int64_t when_ns) override;

  std::vector<WorkerInfo> Workers(const ServedModel& model) const override {
    return board_.Workers(model);
  }
  std::string Circuit(const ServedModel& model) const override { return board_.Circuit(model); }
  std::vector<OtherGeneration> Others(const ServedModel& model) const override {
    return board_.Others(model);
  }

 private:
  // An incarnation that a pool has condemned.
  struct Sentence {
    const ServedModel* model = nullptr;
    uint32_t worker = 0;
    uint32_t epoch = 0;
    std::string reason;
  };

  void RemoveLeftovers();
  void Main();
  void Wait();
  void Handle(uint64_t token);
  void Tick();
  int64_t NextTimeoutNs() const;
  void RingWake();
  void TakeNews();
  void KillCondemned(const std::vector<Sentence>& condemned);
  void EndAll();
  WorkerGroup* Find(const ServedModel* model);

  // Constant after Start().
  platform::Bell wake_;
  std::thread thread_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> tick_wanted_{false};

  // Self-synchronized.
  StatusBoard board_;
  CompletionThread completions_;
  FolderRemover remover_;

  // Owned by the thread.
  MemoryBudget budget_;
  SuperviseServices services_;
  std::vector<std::unique_ptr<WorkerGroup>> groups_;
  int64_t next_tick_ns_ = 0;

  mutable absl::Mutex mu_;
  std::vector<Sentence> condemned_ ABSL_GUARDED_BY(mu_);
  std::vector<SupervisedModel> added_ ABSL_GUARDED_BY(mu_);
  std::vector<std::shared_ptr<ServedModel>> retired_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
