// Reloader: changes which models are served, while they are served.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/config/config.h"
#include "server/reload/generations.h"
#include "server/reload/reload_plan.h"
#include "server/telemetry/log/log.h"
#include "server/telemetry/model_metrics.h"

namespace mpsd {

// What a reloader works with. The referents outlive it.
struct ReloaderParts {
  GenerationMaker* maker = nullptr;
  ModelDirectory* models = nullptr;
  ServerMetrics* metrics = nullptr;
  Logger* logger = nullptr;
  // Reads the config again; called on the reloader's thread.
  std::function<absl::StatusOr<Config>()> read_config;
  // Puts what needs no restart into force; called on the reloader's thread.
  std::function<void(const Config&)> apply;
};

// Thread-safe: a thread of its own does one job after the other. A reload, whether the config or a
// client asks for it, is the same swap of generations for each model that differs; models that do
// not differ are not touched. Owned by the daemon. Beside the request's path: never on it.
class Reloader final : public ModelControl {
 public:
  Reloader(ReloaderParts parts, const Config& config);
  ~Reloader() override;

  // Begins to serve what the config says, without waiting. Called once, before Start().
  void Deploy();

  // Starts the thread.
  void Start();

  // Gives the job that runs up, refuses those that wait, and joins the thread. Idempotent.
  void Stop();

  // Reads the config again, and does what it says. Where one is asked for but has not begun, that
  // one will do.
  void Reload(Done done);

  std::vector<ModelListing> List() const override;
  ReloadReport LastReload() const override;
  void Load(const std::string& name, const std::string& config, Done done) override;
  void Unload(const std::string& name, Done done) override;

 private:
  struct Job {
    std::function<absl::Status()> run;
    Done done;
  };

  void Main();
  // Refused where so many wait already.
  void Enqueue(Job job, size_t most_jobs);
  bool GivenUp() const;
  absl::Status CheckAllowed() const;

  absl::Status RunReload();
  absl::Status RunLoad(const std::string& name, const std::string& config);
  absl::Status RunUnload(const std::string& name);
  // What is wanted, and why some of it cannot be had.
  struct Wanted {
    std::vector<ModelConfig> models;
    std::vector<std::string> faults;
    std::map<ModelKey, ModelListing> unservable;
  };

  Wanted WantedBy(const Config& config) const;
  void TellIgnored(const std::string& model, const std::string& key) const;
  bool IsBegunWith(const ModelConfig& model) const;
  absl::StatusOr<std::string> CarryOut(const Config& config);
  absl::StatusOr<std::vector<ModelConfig>> SourcesOf(const std::string& name) const;
  absl::Status Swap(const ModelConfig& source, const ModelConfig& model);
  void Note(const absl::StatusOr<std::string>& outcome);
  // What List() says of a model that nothing is known of but this.
  void NoteUnservable(const ModelListing& listing);

  const ReloaderParts parts_;
  Generations generations_;
  const Config started_with_;
  Config config_;  // what is in force; owned by the thread once it runs
  std::thread thread_;

  mutable absl::Mutex mu_;
  std::deque<Job> jobs_ ABSL_GUARDED_BY(mu_);
  bool reload_waits_ ABSL_GUARDED_BY(mu_) = false;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  ModelControlMode mode_ ABSL_GUARDED_BY(mu_);
  ReloadReport last_reload_ ABSL_GUARDED_BY(mu_);
  // What cannot be served, kMaxRepositoryModels at most; a model of no version has none that could
  // be made out.
  std::map<ModelKey, ModelListing> unservable_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
