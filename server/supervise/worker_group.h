// WorkerGroup: the workers of one generation of a model.
//
//   Supervisor ── owns ──▶ WorkerGroup ── owns ──▶ SupervisedWorker × processes ── owns ──▶ process
//                              │  ▲                      │
//                              │  └──── WorkerOwner ─────┘   what only the group can decide
//                              ├ Circuit, DeviceHealth       if a worker may start on its device
//                              ├ RecycleReason               when one is replaced
//                              ├ SharedWeights               one copy of the weights a device
//                              └ SlabAnnouncer               the memory of the pool
//
// A generation ends in two steps. After Retire() requests do not find it, and those inside end.
// After Dismiss() its workers go. Once gone() the supervisor calls Close(), which gives its memory
// back.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "proto/link/messages.h"
#include "server/supervise/policy/circuit_policy.h"
#include "server/supervise/policy/recycle_policy.h"
#include "server/supervise/shared_weights.h"
#include "server/supervise/slab_announcer.h"
#include "server/supervise/supervise_services.h"
#include "server/supervise/supervised_model.h"
#include "server/supervise/supervised_worker.h"
#include "server/supervise/worker_owner.h"

namespace mpsd {

// Decides what no worker can decide alone: whether one may start, what the model takes, and when
// one is replaced. Beside the request's path, never on it. The supervisor owns it from the
// generation's addition until its last worker is gone. Lives on the supervisor's thread, which it
// blocks only in EndNow(). Has at most `processes` workers and one more, and an epoch for each
// index ever used, fewer than kMaxWorkers.
//
// Invariants:
//   1. No two workers have the same index. The epochs of an index only grow, also if another worker
//      takes over the index.
//   2. At most one worker more than configured exists: the fresh one of a replacement, or the one
//      that stands in for a silent worker.
//   3. A retired or dismissed group starts no replacement. A dismissed one starts no worker.
//   4. A fresh worker is on the device of the one that it replaces. Events on one device delay no
//      worker on another one.
class WorkerGroup final : public WorkerOwner {
 public:
  // The configured workers start with the first StartDue(). The services outlive the group.
  WorkerGroup(SupervisedModel model, SuperviseServices* services);
  ~WorkerGroup() override;

  // ---- the supervisor ----

  // Starts due workers, and forgets those that have left. Cheap.
  void StartDue();

  // Watches the workers, grows and shrinks the pool's memory, and replaces workers. Called every
  // kWatchdogTickNs or more often.
  void Tick();

  // Requests do not find the model any more: once nothing is inside, its workers go.
  void Retire();

  // Asks all workers to go, even with requests inside. Idempotent.
  void Dismiss();

  bool gone() const { return leaving_ && workers_.empty(); }

  // Gives the model's memory back and forgets the model. Called once. REQUIRES: gone().
  void Close();

  // Whether something of the group should end within milliseconds: the supervisor then ticks the
  // group at each look.
  bool ends_soon() const;

  // When the supervisor must look at the group again, at the latest; INT64_MAX: at the next tick.
  int64_t NextNs(int64_t now_ns) const;

  // Hands the event to the worker with this token. False if there is none.
  bool OnEvent(uint64_t token);

  bool has_process() const;

  // Kills all processes and blocks until they are reaped.
  void EndNow();

  // The worker with this index; null if there is none.
  SupervisedWorker* Find(uint32_t index);
  const std::vector<std::unique_ptr<SupervisedWorker>>& workers() const { return workers_; }
  ServedModel* served() const { return model_.served.get(); }

  // ---- its workers: see WorkerOwner ----
  const SupervisedModel& model() const override { return model_; }
  SlabAnnouncer* slabs() override { return slabs_.get(); }
  absl::Status OnLoaded(SupervisedWorker* worker, const LoadReport& report) override;
  absl::Status OnWeights(SupervisedWorker* worker, const WeightsTold& told,
                         UniqueFd memory) override;
  void OnServing(SupervisedWorker* worker, int64_t start_took_ns) override;
  void OnDeath(SupervisedWorker* worker, const WorkerDeath& death) override;
  absl::Status TakeMemory(uint64_t bytes, const std::string& what) override;
  absl::Status NoSharedMemory(const absl::Status& why) override;

 private:
  // A fresh worker on its way, and the worker that it replaces. If the old worker is silent, it
  // gets no batch meanwhile: the fresh one stands in for it, and leaves when the old one goes on.
  struct Replacement {
    uint32_t fresh = 0;
    uint32_t old = 0;
    bool stands_in = false;
  };

  // Whether workers may start on one device.
  struct DeviceStarts {
    DeviceHealth* health;  // shared by all groups on the device; null on the cpu
    Circuit circuit;
  };

  Pool* pool() const { return model_.pool; }
  void AddWorker(uint32_t index, const DeviceShare& share);
  DeviceStarts* StartsOf(const SupervisedWorker& worker) const;
  uint32_t FreeIndex() const;
  SupervisedWorker* FindByLink(const WorkerLink* link);
  absl::Status CompleteSpec(const LoadReport& report);
  void TakeLabels(const std::vector<std::string>& labels);
  bool MayShareWeights(const std::string& device) const;
  absl::Status GoOn(SupervisedWorker* worker);
  void LetOthersGoOn(const std::string& device);
  void WarnOfTask();
  void Sweep();
  bool MayStart(SupervisedWorker* worker);
  int64_t EarliestStartNs(const SupervisedWorker& worker) const;
  CircuitState CircuitOfAll() const;
  Circuit* LastThatCounted();
  bool WaitsForDevice() const;
  void TellDevice(const SupervisedWorker& worker, const std::function<void(DeviceHealth*)>& tell);
  void NoteGoodService();
  void ExpectWorker();
  void EndThoseThatHoldRequestsUp();
  void TickSlabs() ABSL_EXCLUSIVE_LOCKS_REQUIRED(services_->thread);
  void PublishCircuit();
  void TellPressure() ABSL_EXCLUSIVE_LOCKS_REQUIRED(services_->thread);
  void TickReplacement() ABSL_EXCLUSIVE_LOCKS_REQUIRED(services_->thread);
  WorkerUse UseOf(const SupervisedWorker& worker) ABSL_EXCLUSIVE_LOCKS_REQUIRED(services_->thread);
  SupervisedWorker* SilentWithoutOther() const;
  void FinishReplacement();
  void EndStandIn(SupervisedWorker* fresh);
  void BeginReplacement(SupervisedWorker* old, const char* reason);
  void CheckFreshSize(const SupervisedWorker& fresh);

  // Constant after construction.
  const SupervisedModel model_;
  SuperviseServices* const services_;
  // Used on the supervisor's thread.
  std::unique_ptr<SlabAnnouncer> slabs_;  // made with the pool's first segment
  std::map<std::string, std::unique_ptr<DeviceStarts>> starts_;  // by device
  std::map<std::string, SharedWeights> weights_;                 // likewise
  CircuitState published_circuit_ = CircuitState::kClosed;
  std::vector<std::unique_ptr<SupervisedWorker>> workers_;
  std::map<uint32_t, uint32_t> epochs_;  // by index used so far: epoch of the last worker that left
  std::optional<Replacement> replacement_;
  int64_t no_replacement_until_ns_ = 0;
  int64_t last_start_ns_ = 0;    // length of the last start, from spawn to service
  bool said_too_small_ = false;  // the log has said that recycle's memory limit is too small
  bool retired_ = false;
  bool leaving_ = false;  // workers were asked to go
};

}  // namespace mpsd
