// SupervisedWorker: one configured worker through all its incarnations.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/base/rate_limit.h"
#include "proto/link/messages.h"
#include "server/dispatch/worker_link.h"
#include "server/request/worker_status.h"
#include "server/supervise/policy/watchdog_policy.h"
#include "server/supervise/process/exit_reason.h"
#include "server/supervise/process/worker_output.h"
#include "server/supervise/process/worker_process.h"
#include "server/supervise/supervise_services.h"
#include "server/supervise/worker_state.h"

namespace mpsd {

class WorkerGroup;

// Lives on the supervisor's thread; owned by the group of its model. After a death always in this
// order: kill → waitpid says it is gone → its requests are dispatched again → the group decides
// when the next incarnation starts. What a worker says is believed as far as its state allows it.
class SupervisedWorker {
 public:
  // `epoch` is that of the incarnation before the first one.
  SupervisedWorker(WorkerGroup* group, uint32_t index, uint32_t epoch, SuperviseServices* services);

  // REQUIRES: there is no process.
  ~SupervisedWorker();

  // REQUIRES: kWaiting.
  void Start();

  // Its tokens were reported.
  void OnControl();
  void OnOutput();
  void OnExit();

  // Called every kWatchdogTickNs or more often: kills it when it is past a budget.
  void Tick();

  // It must not start yet, for a reason that is none of its own.
  void Wait(const std::string& reason);

  // It finishes what it has, and then goes for good.
  void Drain();

  // It is not needed any more: asks it to go, and makes it if it does not. No incarnation follows.
  void Dismiss();

  // Kills it for what it did. The reason may hold words of its own.
  void GiveUp(WorkerExit exit, const std::string& why);

  // Kills it, and blocks until it is gone.
  void EndNow();

  // It may run fewer lanes than it was told, when its libtorch cannot bear them or they were seen
  // to disturb each other. REQUIRES: kLoading, before AttachSegments().
  void TakeLanes(const LoadReport& report);

  // Makes the worker's own segments and sends them with the pool's. REQUIRES: kLoading.
  absl::Status AttachSegments();

  uint32_t index() const { return index_; }
  uint32_t epoch() const { return epoch_; }
  uint64_t first_token() const { return first_token_; }
  WorkerState state() const { return state_; }
  bool has_process() const { return run_ != nullptr; }
  bool ready() const { return run_ != nullptr && run_->ready; }
  bool leaving() const { return leaving_; }
  bool starting() const {
    return state_ == WorkerState::kLoading || state_ == WorkerState::kWarming;
  }
  int64_t start_at_ns() const { return start_at_ns_; }
  int64_t started_ns() const { return note_.started_ns; }  // the last incarnation
  int64_t serving_since_ns() const { return serving_since_ns_; }
  bool answers() const { return run_ != nullptr && run_->answers; }  // since the look before
  double jitter() const { return jitter_; }
  void set_device(const std::string& device) { note_.info.device = Printable(device); }
  uint64_t resident_bytes() const;
  WorkerProcess* process() { return run_ == nullptr ? nullptr : run_->process.get(); }
  WorkerLink* link() { return run_ == nullptr ? nullptr : run_->link.get(); }

 private:
  struct Incarnation {
    Incarnation(int64_t now_ns, int64_t own_ns)
        : control_reads(kControlReadsPerSecond, now_ns),
          output_reads(kOutputReadsPerSecond, now_ns),
          phase_since_own_ns(own_ns) {}

    std::unique_ptr<WorkerProcess> process;
    std::shared_ptr<WorkerLink> link;  // from its memory on
    bool ready = false;                // it is warm; perhaps it has not mapped all slabs yet
    RateLimit control_reads;
    RateLimit output_reads;
    int64_t phase_since_own_ns;
    int64_t kill_at_ns = INT64_MAX;  // while it should be leaving by itself
    bool said_failure = false;
    bool was_stopped = false;  // when it was killed
    std::optional<ExitVerdict> verdict;
    std::vector<LaneWatch> lanes;
    uint64_t requests = 0;  // answered
    bool answers = false;
  };

  // A message takes two reads, and one read 16 KiB at most: a quarter of what this allows is more
  // than a worker ever has to say.
  static constexpr uint32_t kControlReadsPerSecond = 512;
  // Of 4 KiB each: beyond it the worker waits.
  static constexpr uint32_t kOutputReadsPerSecond = 256;

  void MoveTo(WorkerState state);
  void Take(MessageReader::Received received);
  void OnReady();
  void OnFailure(const Failure& failure);
  void NoteFailure(const Failure& failure);
  void ReadLastMessages();
  void LeaveBy(int64_t kill_at_ns);
  void CheckBudget();
  void CheckLanes();
  void KillLate();
  void ReadOutput();
  void SayDropped();
  void Ended(int wait_status);
  bool MemoryWasShort(int wait_status);
  void LogDeath(const ExitReason& reason, int64_t moved_ns);
  void Settle(const absl::Status& status);
  void Publish();

  WorkerGroup* const group_;
  SuperviseServices* const services_;
  const uint32_t index_;
  const uint64_t first_token_;
  const double jitter_;

  WorkerState state_ = WorkerState::kWaiting;
  WorkerState before_end_ = WorkerState::kWaiting;  // what it did when its end began
  std::unique_ptr<Incarnation> run_;                // null: kWaiting
  uint32_t epoch_;
  uint32_t failures_ = 0;    // deaths in a row
  int64_t start_at_ns_ = 0;  // while waiting
  int64_t serving_since_ns_ = 0;
  bool has_run_ = false;  // there was an incarnation
  bool leaving_ = false;  // no incarnation follows
  WorkerOutput output_;   // of all incarnations: why one died can be read after the next has begun
  StatusBoard::WorkerNote note_;
};

}  // namespace mpsd
