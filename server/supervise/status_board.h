// StatusBoard: what the supervisor's thread knows of all workers, readable from other threads.
//
// Groups and workers live on one thread and have no lock. Other threads read copies of their state
// here, and never wait for that thread, which may be spawning a process:
//
//   thread "supervisor" ── Publish…, NoteOutcome ──▶ StatusBoard ──▶ `mpsd ps`, ModelStatistics,
//                                                        │           the table at the start
//                                                        └──▶ main and "reloader", which block
//                                                             until models are settled or serve
//
// Two questions are told apart. Whether a model is *settled* is asked at the start of the daemon:
// its first start has ended, well or badly, and that stays so. Whether it *serves* is asked at a
// reload: all workers of the new generation do, and the old one may go.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/clock.h"
#include "server/request/served_model.h"
#include "server/request/worker_status.h"

namespace mpsd {

// Owned by the supervisor. Has one entry for each generation of a model, from Open() to Forget():
// bounded by the generations that there are at once and by kMaxWorkers each. Beside the request's
// path. Its answers may be a tick old; resident memory and ages are taken at the question.
// Thread-safe; only the two Wait methods block, and not on the supervisor's thread.
class StatusBoard final : public WorkerStatusSource {
 public:
  // What is known of one worker. Times are the clock's.
  struct WorkerNote {
    WorkerInfo info;
    bool serves = false;
    int64_t started_ns = 0;
    int64_t starts_at_ns = -1;  // -1: no start is planned
  };

  explicit StatusBoard(const Clock* clock) : clock_(clock) {}

  // ---- the supervisor. REQUIRES, but for Open(): the model was opened and not forgotten. ----

  // From now on WaitUntilSettled() waits for this model too. Called by any thread.
  void Open(const ServedModel& model);
  // Replaces what is known of the worker with the note's index.
  void Publish(const ServedModel& model, const WorkerNote& note);
  // The worker has left for good.
  void Remove(const ServedModel& model, uint32_t worker);
  // The state of the circuit, by its name; a model that waits for its device is shown as open too.
  void PublishCircuit(const ServedModel& model, const char* circuit);
  // Requests do not find the model any more: it is shown as draining.
  void PublishRetired(const ServedModel& model);
  // The generation has no worker any more. A thread that waits for it gets CANCELLED.
  void Forget(const ServedModel& model);

  // A worker of the model has begun to serve (OK), or has failed to start or died (why). The first
  // outcome settles the model: its first start has ended.
  void NoteOutcome(const ServedModel& model, const absl::Status& status);

  // A worker of the model cannot start since memory is short. The outcome is noted besides.
  void FailMemory(const ServedModel& model, const absl::Status& status);

  // ---- those who wait for a start ----

  // Blocks until every model is settled, or `give_up` returns true; calls that a few times a
  // second. Returns why memory is short when no model serves and none fits into memory: one that
  // does not fit keeps no other from serving.
  absl::Status WaitUntilSettled(const std::function<bool()>& give_up);

  // The names of the models that are not settled, in the order of the alphabet.
  std::vector<std::string> Unsettled() const;

  // Blocks until all workers of one model serve (OK) or one of them has failed, and returns why.
  // CANCELLED when `give_up` returned true or the model was forgotten.
  absl::Status WaitUntilServing(const ServedModel& model, const std::function<bool()>& give_up);

  // ---- those who ask; a model without an entry has no workers ----
  std::vector<WorkerInfo> Workers(const ServedModel& model) const override;
  std::string Circuit(const ServedModel& model) const override;
  std::vector<OtherGeneration> Others(const ServedModel& model) const override;

  // Why no worker of the model serves. OK while one serves, and while none has failed yet.
  // FAILED_PRECONDITION: none starts again.
  absl::Status Fault(const ServedModel& model) const;

 private:
  struct Entry {
    std::string name;
    std::string version;
    std::map<uint32_t, WorkerNote> workers;
    std::string circuit = "closed";
    bool retired = false;
    std::optional<absl::Status> settled;  // the first outcome; none while the first start goes on
    absl::Status last_outcome;
    absl::Status memory;  // why there is none for a worker
  };

  static std::optional<absl::Status> OutcomeOf(const Entry& entry);
  absl::Status NothingFits() const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  Entry& EntryOf(const ServedModel& model) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::vector<WorkerInfo> WorkersOf(const Entry& entry) const ABSL_SHARED_LOCKS_REQUIRED(mu_);

  const Clock* const clock_;

  mutable absl::Mutex mu_;
  std::map<const ServedModel*, Entry> entries_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
