// StatusBoard: the state of all workers, readable from other threads.
//
// Groups and workers live on one thread and have no lock. Other threads read copies of their state
// here, and never wait for that thread, which may be spawning a process:
//
//   thread "supervisor" ── Publish…, NoteOutcome ──▶ StatusBoard ──▶ `mpsd ps`, ModelStatistics,
//                                                        │           the table at the start
//                                                        └──▶ main and "reloader", which block
//                                                             until models are settled or serve
//
// At the start the daemon asks whether a model is *settled*: its first start has ended, well or
// badly, and that stays so. A reload asks whether it *serves*: all workers of the new generation
// do, and the old one may go.
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

// Owned by the supervisor. Has an entry for each generation of a model, from Open() to Forget(): at
// most the generations that exist at once, with kMaxWorkers each. Beside the request's path.
// Answers may be a tick old; resident memory and ages are read at the question. Thread-safe; only
// the two Wait methods block, and not on the supervisor's thread.
class StatusBoard final : public WorkerStatusSource {
 public:
  // State of one worker. Times are the clock's.
  struct WorkerNote {
    WorkerInfo info;
    bool serves = false;
    int64_t started_ns = 0;
    int64_t starts_at_ns = -1;  // -1: no start is planned
  };

  explicit StatusBoard(const Clock* clock) : clock_(clock) {}

  // ---- the supervisor. REQUIRES, but for Open(): the model was opened and not forgotten. ----

  // WaitUntilSettled() waits for this model too from now on. Called by any thread.
  void Open(const ServedModel& model);
  // Replaces the state of the worker with the note's index.
  void Publish(const ServedModel& model, const WorkerNote& note);
  // The worker has left for good.
  void Remove(const ServedModel& model, uint32_t worker);
  // The circuit's state, by its name; a model that waits for its device shows as open too.
  void PublishCircuit(const ServedModel& model, const char* circuit);
  // Requests no longer find the model: it shows as draining.
  void PublishRetired(const ServedModel& model);
  // The generation has no worker any more. Threads that wait for it get CANCELLED.
  void Forget(const ServedModel& model);

  // A worker of the model began to serve (OK), or failed to start or died (why). The first outcome
  // settles the model.
  void NoteOutcome(const ServedModel& model, const absl::Status& status);

  // A worker of the model cannot start for lack of memory. The outcome is noted besides.
  void FailMemory(const ServedModel& model, const absl::Status& status);

  // ---- those who wait for a start ----

  // Blocks until every model is settled, or `give_up` returns true; calls that a few times a
  // second. Returns why memory is short if no model serves and none fits: one that does not fit
  // keeps no other from serving.
  absl::Status WaitUntilSettled(const std::function<bool()>& give_up);

  // Names of the models that are not settled, in alphabetical order.
  std::vector<std::string> Unsettled() const;

  // Blocks until all workers of one model serve (OK) or one has failed, and returns why. CANCELLED
  // if `give_up` returned true or the model was forgotten.
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
    std::optional<absl::Status> settled;  // first outcome; none during the first start
    absl::Status last_outcome;
    absl::Status memory;  // why a worker gets no memory
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
