// Reloader: changes the served models while they are served.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/config/config.h"
#include "server/models/reload/generations.h"
#include "server/models/reload/hub_puller.h"
#include "server/models/reload/job_order.h"
#include "server/models/reload/reload_plan.h"
#include "server/telemetry/log/log.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// The referents outlive the reloader.
struct ReloaderParts {
  GenerationMaker* maker = nullptr;
  ModelDirectory* models = nullptr;
  ServerMetrics* metrics = nullptr;
  Logger* logger = nullptr;
  // Called on a thread of the reloader.
  std::function<absl::StatusOr<Config>()> read_config;
  // Applies keys that need no restart; called on the reloader's thread.
  std::function<void(const Config&)> apply;
  HubPuller* puller = nullptr;  // null: no model comes from a hub
};

// Its threads do the jobs: reloads of the config, clients' loads and unloads. Each swaps
// generations for the models that differ. Jobs of different models run side by side, a reload alone
// (job_order.h). Owned by the daemon. Thread-safe, except that main calls Deploy(), Start(),
// Begin() and Stop().
//
// Invariants:
//   1. The `done` of each job, accepted or refused, is called exactly once: on one of the
//      reloader's threads, on the caller's if the job is refused, or in Stop().
//   2. At most one reload waits; further requests meanwhile join it.
//   3. A job that fails leaves every generation serving that it did not replace.
//   4. After each job the directory knows the refused models, with the reasons.
class Reloader final : public ModelControl {
 public:
  Reloader(ReloaderParts parts, const Config& config);
  ~Reloader() override;

  // Does not wait for workers. Called once, before Start().
  void Deploy();

  // No job is done before Begin(). Called once.
  void Start();

  // The supervisor runs. Called once.
  void Begin() ABSL_LOCKS_EXCLUDED(mu_);

  // Models at a hub are here: begins to serve them. As Reload(): one that waits takes them all.
  void TakePulled(Done done);

  // Tells the directory how far the pulls are. Called by any thread.
  void TellPulls();

  // Gives up running jobs, refuses waiting ones. Idempotent.
  void Stop();

  // Does nothing, and never calls `done`, if another reload already waits.
  void Reload(Done done);

  std::vector<ModelListing> List() const override;
  ReloadReport LastReload() const override;
  void Load(const std::string& name, const std::string& config, Done done) override;
  void Unload(const std::string& name, Done done) override;

 private:
  struct Job {
    JobModel model;
    std::function<absl::Status()> run;
    Done done;
  };

  // `folder` is the repository's, if any.
  struct Unservable {
    ModelListing listing;
    std::string folder;
  };

  void Main();
  // Waits for the next job; nothing once the reloader stops.
  std::optional<Job> TakeJob();
  std::optional<size_t> NextWaiting() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EndJob(const JobModel& model);
  // Refuses the job if `most_jobs` wait already, or the reloader stops.
  void Enqueue(Job job, size_t most_jobs);
  bool GivenUp() const;
  absl::Status CheckAllowed() const;

  absl::Status RunReload();
  absl::Status RunLoad(const std::string& name, const std::string& config);
  absl::Status RunUnload(const std::string& name);
  struct Wanted {
    std::vector<ModelConfig> models;
    std::vector<std::string> faults;
    std::map<ModelKey, Unservable> unservable;
    std::map<ModelKey, std::string> awaited;  // the hub's names
  };

  Wanted WantedBy(const Config& config) const;
  void TellIgnored(const std::string& model, const std::string& key) const;
  bool IsBegunWith(const ModelConfig& model) const;
  // Takes the keys that are not about models. Without a new config a client's settings stay.
  void Adopt(const Config& config);
  absl::StatusOr<std::string> CarryOut(const Config& config);
  absl::StatusOr<std::vector<ModelConfig>> SourcesOf(const std::string& name) const;
  absl::Status Swap(const ModelConfig& source, const ModelConfig& model);
  void Note(const absl::StatusOr<std::string>& outcome);
  // For List(), of a model that is not known otherwise.
  void NoteUnservable(const ModelListing& listing);
  std::string FolderOf(const Config& config, const std::string& name) const;
  // Tells the directory the refused and the fetched models.
  void TellRefused();
  absl::Status RunPulled();
  // Has the missing models fetched.
  void Await(std::map<ModelKey, std::string> awaited);

  const ReloaderParts parts_;
  Generations generations_;
  const Config started_with_;
  Config config_;  // in force; written by a reload, which runs alone
  std::vector<std::thread> threads_;

  // If two jobs end together, the later one tells last.
  absl::Mutex refused_mu_ ABSL_ACQUIRED_BEFORE(mu_);

  mutable absl::Mutex mu_;
  std::deque<Job> jobs_ ABSL_GUARDED_BY(mu_);
  std::vector<JobModel> running_ ABSL_GUARDED_BY(mu_);
  bool has_begun_ ABSL_GUARDED_BY(mu_) = false;
  bool reload_waits_ ABSL_GUARDED_BY(mu_) = false;
  bool pulled_waits_ ABSL_GUARDED_BY(mu_) = false;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  ModelControlMode mode_ ABSL_GUARDED_BY(mu_);
  ReloadReport last_reload_ ABSL_GUARDED_BY(mu_);
  // At most kMaxRepositoryModels. An empty version: none could be read.
  std::map<ModelKey, Unservable> unservable_ ABSL_GUARDED_BY(mu_);
  // Being fetched, with their names at the hub.
  std::map<ModelKey, std::string> awaited_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
