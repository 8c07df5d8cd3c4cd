// Supervisor: keeps the configured workers alive, and waits for completions while nobody else does.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/random/random.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/clock.h"
#include "proto/base/platform.h"
#include "proto/link/messages.h"
#include "server/dispatch/plane.h"
#include "server/dispatch/pool.h"
#include "server/request/served_model.h"
#include "server/request/worker_status.h"
#include "server/supervise/memory_budget.h"
#include "server/supervise/slab_announcer.h"
#include "server/supervise/worker_process.h"
#include "server/telemetry/log.h"

namespace mpsd {

// What is to be kept running for one generation of a model.
struct SupervisedModel {
  std::shared_ptr<ServedModel> served;
  Pool* pool = nullptr;  // the served model's queue
  LoadOrder order;       // the epoch is filled in for each incarnation
  uint32_t processes = 1;
  uint32_t queue_requests = 0;
  uint64_t queue_bytes = 0;
  std::unique_ptr<SlabAnnouncer> slabs;  // made with the pool's first segment
};

struct SupervisorOptions {
  std::string worker_binary;
  std::string temporary_folder;  // of this daemon alone
  uint64_t shared_memory_bytes = 0;
};

// One thread of its own starts, watches and reaps all workers, in this order for each death: kill →
// waitpid says that it is gone → its requests are dispatched again → respawn. The same thread waits
// on the workers' bells. Start() and Stop() are called once each, from main; the others are
// thread-safe.
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
  absl::Status WaitUntilSettled(const std::function<bool()>& give_up);

  // The same for one model: OK once it serves, else why it failed to start. CANCELLED when
  // `give_up` said so.
  absl::Status WaitUntilServing(const ServedModel& model, const std::function<bool()>& give_up);

  // Ends all workers and the thread. Requests must have ended before. Idempotent.
  void Stop();

  void Condemn(const ServedModel& model, uint32_t worker, uint32_t epoch,
               const std::string& reason) override;
  void WakeBy(int64_t when_ns) override;
  std::vector<WorkerInfo> Workers(const ServedModel& model) const override;

 private:
  enum class State { kWaiting, kLoading, kWarming, kServing };

  // One configured worker through all its incarnations. Owned by the thread.
  struct Worker {
    std::shared_ptr<SupervisedModel> model;
    uint32_t index = 0;
    uint64_t first_token = 0;
    State state = State::kWaiting;
    uint32_t epoch = 0;
    uint32_t failures = 0;    // deaths in a row
    int64_t start_at_ns = 0;  // while waiting
    int64_t serving_since_ns = 0;
    int64_t kill_at_ns = INT64_MAX;  // while it should be leaving by itself
    bool ready = false;              // it is warm; perhaps it has not mapped all slabs yet
    std::unique_ptr<WorkerProcess> process;
    std::shared_ptr<WorkerLink> link;
    WorkerInfo info;  // published under mu_
  };

  // An incarnation that a pool has condemned.
  struct Sentence {
    const ServedModel* model = nullptr;
    uint32_t worker = 0;
    uint32_t epoch = 0;
    std::string reason;
  };

  void Main();
  void Wait();
  void Handle(uint64_t token);
  void HandleTimers();
  int64_t NextTimeoutNs() const;

  void RingWake();
  void TakeAdded();
  void EndRetired();
  void Dismiss(Worker* worker);
  void Forget(const ServedModel& model);

  void StartWorker(Worker* worker);
  void ReadControl(Worker* worker);
  void Take(Worker* worker, MessageReader::Received received);
  absl::Status OnLoaded(Worker* worker, const LoadReport& report);
  absl::Status CompleteSpec(SupervisedModel* model, const LoadReport& report);
  absl::Status AttachSegments(Worker* worker);
  absl::Status TakeMemory(uint64_t bytes, const std::string& what);
  void OnReady(Worker* worker);
  void TickSlabs();
  void ReadOutput(Worker* worker);
  void ReadExit(Worker* worker);
  void GiveUp(Worker* worker, const std::string& reason);
  void KillCondemned();
  void KillAll();
  void Publish(Worker* worker);
  void Settle(const Worker& worker, const absl::Status& status);

  const SupervisorOptions options_;
  Plane* const plane_;
  const Clock* const clock_;
  Logger* const logger_;

  // Constant after Start().
  platform::Bell wake_;
  std::thread thread_;
  std::atomic<bool> stopping_{false};
  std::atomic<int64_t> wake_by_ns_{INT64_MAX};

  // Owned by the thread.
  std::vector<std::unique_ptr<Worker>> workers_;
  uint64_t next_token_ = 1;
  platform::Poller poller_;
  MemoryBudget budget_;
  absl::BitGen random_;
  int64_t next_tick_ns_ = 0;

  mutable absl::Mutex mu_;
  std::vector<Sentence> condemned_ ABSL_GUARDED_BY(mu_);
  std::vector<std::shared_ptr<SupervisedModel>> added_ ABSL_GUARDED_BY(mu_);
  std::vector<std::shared_ptr<ServedModel>> retired_ ABSL_GUARDED_BY(mu_);
  std::map<const ServedModel*, std::vector<WorkerInfo>> published_ ABSL_GUARDED_BY(mu_);
  // How each model's start ended; nothing while it has not.
  std::map<const ServedModel*, std::optional<absl::Status>> settled_ ABSL_GUARDED_BY(mu_);
  absl::Status memory_status_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
