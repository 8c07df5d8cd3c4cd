// StatusBoard: the state of all workers, readable from other threads.
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

// Other threads read copies here and never wait for the supervisor's, which may be spawning a
// process. Answers may be a tick old; resident memory and ages are read at the question.
//
// A model is *settled* once its first start has ended, well or badly. A generation *serves* once
// all its workers do; a reload waits for that.
//
// Owned by the supervisor. Has an entry for each generation from Open() to Forget(). Thread-safe;
// only the two Wait methods block, and not on the supervisor's thread.
class StatusBoard final : public WorkerStatusSource {
 public:
  // Times are the clock's.
  struct WorkerNote {
    WorkerInfo info;
    bool serves = false;
    int64_t started_ns = 0;
    int64_t starts_at_ns = -1;  // -1: none is planned
  };

  explicit StatusBoard(const Clock* clock) : clock_(clock) {}

  // ---- the supervisor. REQUIRES, but for Open(): the model was opened and not forgotten ----

  // WaitUntilSettled() includes this model from now on. Called by any thread.
  void Open(const ServedModel& model);
  void Publish(const ServedModel& model, const WorkerNote& note);
  // The worker has left for good.
  void Remove(const ServedModel& model, uint32_t worker);
  // By its name; a model that waits for its device shows as open too.
  void PublishCircuit(const ServedModel& model, const char* circuit);
  // The model shows as draining.
  void PublishRetired(const ServedModel& model);
  // The generation has no worker any more. Its waiting threads get CANCELLED.
  void Forget(const ServedModel& model);

  // A worker began to serve (OK), or failed to start or died. The first outcome settles the model.
  void NoteOutcome(const ServedModel& model, const absl::Status& status);

  // A worker lacks memory to start. The outcome is noted besides.
  void FailMemory(const ServedModel& model, const absl::Status& status);

  // ---- waiting for a start ----

  // Blocks until every model is settled, or `give_up`, asked a few times a second, returns true. An
  // error, why memory is short, only if no model serves and none fits.
  absl::Status WaitUntilSettled(const std::function<bool()>& give_up);

  // Models that are not settled, in alphabetical order.
  std::vector<std::string> Unsettled() const;

  // Blocks until all workers of the model serve (OK) or one has failed (why). CANCELLED if
  // `give_up` returned true or the model was forgotten.
  absl::Status WaitUntilServing(const ServedModel& model, const std::function<bool()>& give_up);

  // ---- questions; a model without an entry has no workers ----
  std::vector<WorkerInfo> Workers(const ServedModel& model) const override;
  std::string Circuit(const ServedModel& model) const override;
  std::vector<OtherGeneration> Others(const ServedModel& model) const override;

  // Why no worker serves. OK while one serves or none has failed yet. FAILED_PRECONDITION: none
  // starts again.
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
    absl::Status memory;
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
