// StatusBoard: what the supervisor's thread has found out, for whoever asks from another one.
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

// Thread-safe. An entry a generation of a model, from its addition until it is forgotten.
class StatusBoard final : public WorkerStatusSource {
 public:
  // What the thread says of one worker. Times are the clock's.
  struct WorkerNote {
    WorkerInfo info;
    bool serves = false;
    int64_t started_ns = 0;
    int64_t starts_at_ns = -1;
  };

  explicit StatusBoard(const Clock* clock) : clock_(clock) {}

  // ---- the supervisor ----
  void Open(const ServedModel& model);
  void Publish(const ServedModel& model, const WorkerNote& note);
  void Remove(const ServedModel& model, uint32_t worker);
  void PublishCircuit(const ServedModel& model, const char* circuit);
  void PublishRetired(const ServedModel& model);
  void Forget(const ServedModel& model);

  // A worker of the model serves, or has failed. After the first time, whoever waits for the
  // model's start need not wait any more.
  void Settle(const ServedModel& model, const absl::Status& status);

  // A configured model does not fit in memory.
  void FailMemory(const absl::Status& status);

  // ---- whoever waits ----

  // Blocks until every model is settled, or `give_up`, asked a few times a second, says so.
  absl::Status WaitUntilSettled(const std::function<bool()>& give_up);

  // The same until all workers of one model serve, or one of them has failed, which is returned;
  // CANCELLED when `give_up` said so, or the model was forgotten.
  absl::Status WaitUntilServing(const ServedModel& model, const std::function<bool()>& give_up);

  // ---- whoever asks ----
  std::vector<WorkerInfo> Workers(const ServedModel& model) const override;
  std::string Circuit(const ServedModel& model) const override;
  std::vector<OtherGeneration> Others(const ServedModel& model) const override;

  // Why no worker of the model serves, once one has failed to start or has died; OK while one
  // serves, or the first of them are on their way.
  absl::Status Fault(const ServedModel& model) const;

 private:
  struct Entry {
    std::string name;
    std::string version;
    std::map<uint32_t, WorkerNote> workers;
    std::string circuit = "closed";
    bool retired = false;
    // How its start ended; nothing while it has not.
    std::optional<absl::Status> settled;
    // What was said last of a worker that started or ended.
    absl::Status last_word;
  };

  static std::optional<absl::Status> OutcomeOf(const Entry& entry);
  std::vector<WorkerInfo> WorkersOf(const Entry& entry) const ABSL_SHARED_LOCKS_REQUIRED(mu_);

  const Clock* const clock_;

  mutable absl::Mutex mu_;
  std::map<const ServedModel*, Entry> entries_ ABSL_GUARDED_BY(mu_);
  absl::Status memory_status_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
