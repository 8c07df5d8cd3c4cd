// WorkerGroup: the workers of one generation of a model.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/link/messages.h"
#include "server/supervise/policy/circuit_policy.h"
#include "server/supervise/slab_announcer.h"
#include "server/supervise/supervise_services.h"
#include "server/supervise/supervised_model.h"
#include "server/supervise/supervised_worker.h"

namespace mpsd {

// Lives on the supervisor's thread. Decides what no worker can decide alone: whether one may start,
// what the model takes, and when one is replaced.
class WorkerGroup {
 public:
  WorkerGroup(SupervisedModel model, SuperviseServices* services);
  ~WorkerGroup();

  // ---- the supervisor ----

  // Starts the workers whose time has come, and forgets those that have left. Cheap.
  void StartDue();

  // Called every kWatchdogTickNs or more often.
  void Tick();

  // The model is not published any more: once nothing is inside, its workers go.
  void Retire();

  // Asks all workers to go, whatever is inside.
  void Dismiss();

  // True once the last worker of a retired or dismissed group is gone.
  bool gone() const { return leaving_ && workers_.empty(); }

  // Gives the model's memory back. REQUIRES: gone().
  void Close();

  // Something of it ends within milliseconds: it wants to be ticked as often as it is looked at.
  bool ends_soon() const;

  // No look at the group is due before that.
  int64_t NextNs(int64_t now_ns) const;

  SupervisedWorker* FindByToken(uint64_t first_token);
  SupervisedWorker* Find(uint32_t index);
  const std::vector<std::unique_ptr<SupervisedWorker>>& workers() const { return workers_; }
  const SupervisedModel& model() const { return model_; }
  ServedModel* served() const { return model_.served.get(); }
  Pool* pool() const { return model_.pool; }
  SlabAnnouncer* slabs() const { return slabs_.get(); }  // null until the model was loaded once

  // ---- its workers ----
  absl::Status OnLoaded(SupervisedWorker* worker, const LoadReport& report);
  void OnServing(SupervisedWorker* worker, int64_t start_took_ns);
  void OnDeath(SupervisedWorker* worker, const ExitReason& reason, bool struck, bool served_well);
  absl::Status TakeMemory(uint64_t bytes, const std::string& what);

  // `why` for the log, and in its place what a client may be told.
  absl::Status NoSharedMemory(const absl::Status& why);

 private:
  // A fresh worker on its way, and the one whose place it takes.
  struct Replacement {
    uint32_t fresh = 0;
    uint32_t old = 0;
  };

  SupervisedWorker* AddWorker(uint32_t index);
  uint32_t FreeIndex() const;
  absl::Status CompleteSpec(const LoadReport& report);
  void Sweep();
  bool MayStart(SupervisedWorker* worker);
  int64_t EarliestStartNs(const SupervisedWorker& worker) const;
  bool WaitsForDevice() const;
  void TellDevice(const std::function<void(DeviceHealth*)>& tell);
  void ExpectWorker();
  void TickSlabs();
  void PublishCircuit();
  void TickReplacement();
  void FinishReplacement();
  void BeginReplacement(SupervisedWorker* old, const char* reason);
  void CheckFreshSize(const SupervisedWorker& fresh);

  const SupervisedModel model_;
  SuperviseServices* const services_;
  DeviceHealth* const device_;            // shared by all groups on it; null on the cpu
  std::unique_ptr<SlabAnnouncer> slabs_;  // made with the pool's first segment
  Circuit circuit_;
  CircuitState published_circuit_ = CircuitState::kClosed;
  std::vector<std::unique_ptr<SupervisedWorker>> workers_;
  std::map<uint32_t, uint32_t> epochs_;  // of workers that have left, by index
  std::optional<Replacement> replacement_;
  int64_t no_replacement_until_ns_ = 0;
  int64_t last_start_ns_ = 0;    // what the last start took, from spawn to service
  bool said_too_small_ = false;  // the limit on memory
  bool retired_ = false;
  bool leaving_ = false;  // the workers were asked to go
};

}  // namespace mpsd
