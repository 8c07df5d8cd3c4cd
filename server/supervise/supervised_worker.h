// SupervisedWorker: one configured worker through all its incarnations.
//
// The steps of a start, with the states of worker_state.h. The process answers over its control
// socket; nothing here waits for that:
//
//   Start()            spawns the process and sends it the LoadOrder          kLoading
//   LoadReport    ◀──  the owner checks the spec, takes memory for it
//   AskForWeights()    where workers share weights, which one has in its device's memory
//   WeightsTold   ◀──  the owner keeps the descriptor
//   AttachSegments()   makes its segments, sends descriptors: AttachOrder     kWarming
//   Ready, mapped ◀──  the lanes are warm, and it has all of the pool's segments
//   (attach)           bells, announcer and pool take it on                   kServing
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "proto/link/messages.h"
#include "server/pool/lanes/worker_link.h"
#include "server/supervise/device_share.h"
#include "server/supervise/incarnation.h"
#include "server/supervise/process/worker_output.h"
#include "server/supervise/status_board.h"
#include "server/supervise/supervise_services.h"
#include "server/supervise/worker_owner.h"
#include "server/supervise/worker_state.h"

namespace mpsd {

// Spawns a worker process, gives it memory, attaches it to the pool, watches it and reaps it.
// Beside the request's path, never on it. Owned by its model's group. Lives on the supervisor's
// thread, which it blocks only in EndNow().
//
// Invariants:
//   1. There is a process exactly while the state is not kWaiting.
//   2. The state changes only by legal steps of worker_state.h; one function CHECKs them.
//   3. A death always goes in this order: the process is killed, or dies → it is reaped → the pool
//      dispatches its requests again or ends them → the owner hears of it → the next start.
//   4. The process's messages are believed only as far as its state allows; others kill it.
//   5. The memory of an incarnation is given back only after it was reaped.
//   6. After a failure that lasts, no start follows until some worker of the model has loaded it.
class SupervisedWorker {
 public:
  // `epoch` is that of the incarnation before the first one. All incarnations run on the device of
  // `share`. Owner and services outlive the worker.
  SupervisedWorker(WorkerOwner* owner, uint32_t index, uint32_t epoch, DeviceShare share,
                   SuperviseServices* services);

  // REQUIRES: there is no process.
  ~SupervisedWorker();

  // Spawns the next incarnation. If that fails the worker stays in kWaiting, and start_at_ns() says
  // when to try again. REQUIRES: kWaiting, not leaving().
  void Start();

  void OnEvent(WorkerEvent event);

  // Flushes messages, and kills the process if it is past a budget. Called every kWatchdogTickNs or
  // more often.
  void Tick();

  // Notes why the worker may not start although its time has come. REQUIRES: kWaiting.
  void Wait(const std::string& reason);

  // Another worker has loaded the model, so neither file nor order is at fault: a worker that has
  // failed() starts again after a rest. Does nothing to others.
  void StartAfterAll();

  // The worker gets no more batches, finishes those it has, and leaves for good. REQUIRES:
  // kServing.
  void Drain();

  // The worker leaves for good: closes its control socket, and kills it if it is still there a
  // second later.
  void Dismiss();

  // Kills the process, which has loaded the model but cannot be given what it needs.
  void GiveUpLoaded(const absl::Status& why);

  // Kills the process, if any, for what it did. `why` may hold the worker's words.
  void GiveUp(WorkerExit exit, const std::string& why);

  // Kills the process, if any, and blocks until it is reaped.
  void EndNow();

  // Takes the reported number of lanes if it is lower than ordered: its libtorch cannot bear more,
  // or the lanes disturbed each other. After an incarnation that crashed before its report, it is
  // one. REQUIRES: kLoading, and no memory was attached yet.
  void TakeLanes(const LoadReport& report);

  // Asks the worker to use the weights that another one shares in `memory`, or with -1 to share its
  // own. The owner hears of the answer. REQUIRES: kLoading, and it has loaded the model.
  absl::Status AskForWeights(int memory);

  // Stays in kLoading until the owner asks or attaches it. REQUIRES: as above.
  void WaitForWeights();

  // Makes the worker's own segments and sends them with the pool's first one; moves to kWarming.
  // After an error before the order was sent, the state is still kLoading. REQUIRES: kLoading, no
  // memory was attached yet, and the pool has its first segment.
  absl::Status AttachSegments();

  uint32_t index() const { return index_; }
  uint32_t epoch() const { return epoch_; }
  const DeviceShare& share() const { return share_; }
  uint64_t first_token() const { return first_token_; }
  WorkerState state() const { return state_; }
  bool has_process() const { return run_ != nullptr; }
  bool leaving() const { return leaving_; }  // no incarnation follows
  // The file or the order seems to be at fault: no incarnation follows, unless another worker loads
  // the model or a reload makes another generation.
  bool failed() const { return start_at_ns_ == INT64_MAX; }
  bool starting() const {
    return state_ == WorkerState::kLoading || state_ == WorkerState::kWarming;
  }
  // Whether its process should be gone within milliseconds.
  bool ends_soon() const {
    return state_ == WorkerState::kDraining || state_ == WorkerState::kEnding ||
           (run_ != nullptr && run_->exited);
  }
  int64_t start_at_ns() const { return start_at_ns_; }
  int64_t started_ns() const { return note_.started_ns; }  // the last incarnation's
  int64_t serving_since_ns() const { return serving_since_ns_; }
  bool ready() const { return run_ != nullptr && run_->ready; }
  uint64_t weight_bytes() const { return run_ == nullptr ? 0 : run_->weight_bytes; }
  bool waits_for_weights() const {
    return state_ == WorkerState::kLoading && run_->weights == WeightsStep::kWaits;
  }
  bool is_silent() const { return state_ == WorkerState::kServing && run_->is_silent; }
  // Whether requests wait in it that could run elsewhere, while a SIGSTOP holds it.
  bool holds_requests_up() const { return run_ != nullptr && run_->holds_up; }
  bool answers() const { return run_ != nullptr && run_->answers; }
  double jitter() const { return jitter_; }
  uint64_t resident_bytes() const;
  uint64_t fresh_bytes() const { return fresh_bytes_; }  // resident when it began to serve
  WorkerLink* link() { return run_ == nullptr ? nullptr : run_->link.get(); }
  void set_device(const std::string& device) { note_.info.device = Printable(device); }
  void set_runtime(const WorkerRuntime& runtime) {
    note_.info.runtime = {Printable(runtime.name), Printable(runtime.kind), Printable(runtime.path),
                          runtime.driver_guard, runtime.input_memory};
  }

 private:
  void MoveTo(WorkerState state) ABSL_EXCLUSIVE_LOCKS_REQUIRED(services_->thread);

  // Start.
  uint32_t LanesToOrder() const;
  Precision PrecisionToOrder() const;
  void OnSpawnFailed(const absl::Status& why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(services_->thread);
  void OnLoadReport(const LoadReport& report) ABSL_EXCLUSIVE_LOCKS_REQUIRED(services_->thread);
  absl::Status TakeMemory(WorkerLink::Options* options)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(services_->thread);
  absl::Status SendAttachOrder() ABSL_EXCLUSIVE_LOCKS_REQUIRED(services_->thread);
  void Serve() ABSL_EXCLUSIVE_LOCKS_REQUIRED(services_->thread);

  // Messages and output.
  void OnControl() ABSL_EXCLUSIVE_LOCKS_REQUIRED(services_->thread);
  void Take(MessageReader::Received received) ABSL_EXCLUSIVE_LOCKS_REQUIRED(services_->thread);
  void TakeWeights(const WeightsTold& told, std::vector<UniqueFd> fds)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(services_->thread);
  absl::Status TakeWhileAttached(const Message& message)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(services_->thread);
  void OnFailure(const Failure& failure) ABSL_EXCLUSIVE_LOCKS_REQUIRED(services_->thread);
  void NoteFailure(const Failure& failure);
  bool NothingWentBetter() const;
  void NoteWarning(const std::string& warning);
  void ReadLastMessages();
  void OnOutput() ABSL_EXCLUSIVE_LOCKS_REQUIRED(services_->thread);
  void ReadOutput();
  void NoteLastLines();
  void LogDroppedLines();

  void NoteSending(const absl::Status& status);

  void CheckBudget() ABSL_EXCLUSIVE_LOCKS_REQUIRED(services_->thread);
  void CheckLanes() ABSL_EXCLUSIVE_LOCKS_REQUIRED(services_->thread);
  void NoteSlowness(double slowness) ABSL_EXCLUSIVE_LOCKS_REQUIRED(services_->thread);
  void KillLate() ABSL_EXCLUSIVE_LOCKS_REQUIRED(services_->thread);

  // End.
  void LeaveBy(int64_t kill_at_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(services_->thread);
  void OnExit() ABSL_EXCLUSIVE_LOCKS_REQUIRED(services_->thread);
  void Ended(int wait_status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(services_->thread);
  ExitReason ReasonOf(int wait_status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(services_->thread);
  bool MemoryWasShort(int wait_status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(services_->thread);
  Conviction DetachFromPool(const ExitReason& reason);
  void LogConviction(Conviction conviction);
  void LogDeath(const ExitReason& reason, int64_t moved_ns);

  // Reports to others.
  ServedModel* served() const { return owner_->model().served.get(); }
  Pool* pool() const { return owner_->model().pool; }
  void NoteOutcome(const absl::Status& status);
  void Publish();

  // Constant after construction.
  WorkerOwner* const owner_;
  SuperviseServices* const services_;
  const uint32_t index_;
  const DeviceShare share_;
  const uint64_t first_token_;
  const double jitter_;

  // Used on the supervisor's thread.
  WorkerState state_ = WorkerState::kWaiting;
  WorkerState before_end_ = WorkerState::kWaiting;  // the state in which its end began
  std::unique_ptr<Incarnation> run_;
  uint32_t epoch_;
  uint32_t failures_ = 0;  // deaths in a row, and failures to spawn
  int64_t start_at_ns_ = 0;
  int64_t serving_since_ns_ = 0;  // 0 while it does not serve
  uint64_t fresh_bytes_ = 0;      // resident when it began to serve
  bool has_run_ = false;          // there was an incarnation
  bool crashed_at_load_ = false;  // before its report: the next ones try out nothing
  bool lanes_compared_ = false;   // an incarnation bore all lanes, and did not crash since
  bool leaving_ = false;
  WorkerOutput output_;  // shared by all incarnations, because people read a death's reason later
  StatusBoard::WorkerNote note_;
};

}  // namespace mpsd
