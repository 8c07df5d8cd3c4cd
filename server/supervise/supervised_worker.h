// SupervisedWorker: one configured worker through all its incarnations.
//
// The steps of a start, with the states of WorkerLife. The process answers over its control
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
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "proto/base/rate_limit.h"
#include "proto/link/messages.h"
#include "server/pool/lanes/worker_link.h"
#include "server/supervise/device_share.h"
#include "server/supervise/process/worker_output.h"
#include "server/supervise/process/worker_process.h"
#include "server/supervise/status_board.h"
#include "server/supervise/supervise_services.h"
#include "server/supervise/worker_life.h"
#include "server/supervise/worker_owner.h"

namespace mpsd {

// Reads from one worker's control socket; a worker that needs more is killed. A read takes at most
// 16 KiB, a message two reads: an honest worker needs a quarter of this.
inline constexpr uint32_t kControlReadsPerSecond = 512;
// A read takes 4 KiB of one worker's stdout and stderr. A worker that writes more waits, as with
// any full pipe.
inline constexpr uint32_t kOutputReadsPerSecond = 256;

// Spawns a worker process, gives it memory, attaches it to the pool, watches it and reaps it.
// Beside the request's path, never on it. Owned by its model's group. Lives on the supervisor's
// thread, which it blocks only in EndNow().
//
// Invariants:
//   1. There is a process exactly while the state is not kWaiting.
//   2. WorkerLife decides what follows from an event. Nothing else changes the state.
//   3. A death always goes in this order: the process is killed, or dies → it is reaped → the pool
//      dispatches its requests again or ends them → the owner hears of it → the next start.
//   4. The process's messages are believed only as far as its state allows; others kill it.
//   5. The memory of an incarnation is given back only after it was reaped.
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
  void Drain() { Do(life_.Drain()); }

  // The worker leaves for good: closes its control socket, and kills it if it is still there a
  // second later.
  void Dismiss();

  // Kills the process, which has loaded the model but cannot be given what it needs.
  void GiveUpLoaded(const absl::Status& why);

  // Kills the process, if any, for what it did. `why` may hold the worker's words. With
  // `lasts` the next process would fail too.
  void GiveUp(WorkerExit exit, const std::string& why, bool lasts = false);

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
  void WaitForWeights() { life_.GoOn(LoadStep::kWaits, Time()); }

  // Makes the worker's own segments and sends them with the pool's first one; moves to kWarming.
  // After an error before the order was sent, the state is still kLoading. REQUIRES: kLoading, no
  // memory was attached yet, and the pool has its first segment.
  absl::Status AttachSegments();

  uint32_t index() const { return index_; }
  uint32_t epoch() const { return epoch_; }
  const DeviceShare& share() const { return share_; }
  uint64_t first_token() const { return first_token_; }
  double jitter() const { return jitter_; }
  const WorkerLife& life() const { return life_; }
  WorkerState state() const { return life_.state(); }
  bool has_process() const { return run_.has_value(); }
  // Whether its process should be gone within milliseconds.
  bool ends_soon() const {
    return state() >= WorkerState::kDraining || (run_.has_value() && run_->exited);
  }
  int64_t started_ns() const { return note_.started_ns; }  // the last incarnation's
  uint64_t weight_bytes() const { return !run_.has_value() ? 0 : run_->weight_bytes; }
  uint64_t resident_bytes() const { return !run_.has_value() ? 0 : run_->process->ResidentBytes(); }
  WorkerLink* link() { return !run_.has_value() ? nullptr : run_->link.get(); }

 private:
  // Made when a process was spawned, destroyed once it was reaped: nothing in here may pass from
  // one process to the next.
  struct Incarnation {
    std::unique_ptr<WorkerProcess> process;
    RateLimit control_reads;
    RateLimit output_reads;
    std::shared_ptr<WorkerLink> link;  // null until the worker has its memory
    uint64_t weight_bytes = 0;         // weights that it could share, by its report
    bool send_failed = false;          // the last try to send its queued messages failed
    bool exited = false;               // its exit was reported, but it could not be reaped yet
  };

  LifeTime Time() const;
  void Do(const LifeActions& actions);
  // Logs an event of this worker.
  template <typename... Fields>
  void Log(LogLevel level, const char* event, const Fields&... fields) {
    services_->logger->Log(level, event,
                           {{"model", served()->name}, {"worker", index_}, fields...});
  }
  LogField Pid() const { return {"pid", run_->process->pid()}; }

  // Start.
  uint32_t LanesToOrder() const { return crashed_at_load_ ? 1 : owner_->model().order.lanes; }
  Precision PrecisionToOrder() const;
  void OnSpawnFailed(const absl::Status& why);
  absl::Status TakeMemory(WorkerLink::Options* options);
  absl::Status SendAttachOrder();
  void Serve();

  // Messages and output.
  void OnControl();
  void Take(MessageReader::Received received);
  void TakeWhileLoading(MessageReader::Received received);
  void NoteReady(const Ready& ready);
  LifeActions NoteFailure(const Failure& failure);
  void ReadLastMessages();
  void OnOutput();
  void ReadOutput();
  void NoteLastLines();
  void LogDroppedLines();

  void NoteSending(const absl::Status& status);
  LifeActions LookAtLanes();
  void NoteSlowness(double slowness);

  // End.
  void OnExit();
  void Ended(int wait_status);
  ExitReason ReasonOf(int wait_status);
  bool NothingWentBetter() const;
  Conviction DetachFromPool(const ExitReason& reason);
  void LogConviction(Conviction conviction);
  void LogDeath(const WorkerDeath& death, int64_t moved_ns);

  // Reports to others.
  ServedModel* served() const { return owner_->model().served.get(); }
  Pool* pool() const { return owner_->model().pool; }
  void NoteOutcome(const absl::Status& status);
  void Publish();

  // Constant after construction.
  WorkerOwner* const owner_;
  SuperviseServices* const services_;
  const uint32_t index_;
  const uint32_t first_epoch_;
  const DeviceShare share_;
  const uint64_t first_token_;
  const double jitter_;

  // Used on the supervisor's thread.
  WorkerLife life_;
  std::optional<Incarnation> run_;
  uint32_t epoch_;
  bool crashed_at_load_ = false;  // before its report: the next ones try out nothing
  bool lanes_compared_ = false;   // an incarnation bore all lanes, and did not crash since
  WorkerOutput output_;  // shared by all incarnations, because people read a death's reason later
  StatusBoard::WorkerNote note_;
};

}  // namespace mpsd
