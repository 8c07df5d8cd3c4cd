#include "server/models/reload/reloader.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/base/check.h"
#include "proto/base/limits.h"
#include "proto/base/platform.h"
#include "server/config/config_values.h"
#include "server/config/tokenizer_stamp.h"
#include "server/config/triton/model_repository.h"
#include "server/config/triton/triton_config.h"
#include "server/request/retry_info.h"

namespace mpsd {
namespace {

constexpr size_t kReloadThreads = 4;

absl::Status Exiting() { return absl::UnavailableError("Server exiting"); }

// A model without a level of its own gets the daemon's, which a reload may change.
void Complete(const Config& config, ModelConfig* model) {
  model->sandbox = model->sandbox.value_or(config.sandbox);
}

// Clients know both texts. The first: the model, or a client's config for it, makes no generation.
absl::Status NotPolled(const std::string& name, const absl::Status& status) {
  return WithText(status,
                  absl::StrCat("failed to load '", name,
                               "', failed to poll from model repository: ", status.message()));
}

absl::Status LoadFailed(const std::string& name, const absl::Status& status) {
  return WithText(status, absl::StrCat("load failed for model '", name, "': ", status.message()));
}

}  // namespace

Reloader::Reloader(ReloaderParts parts, const Config& config)
    : parts_(std::move(parts)),
      generations_(parts_.maker, parts_.models),
      started_with_(config),
      config_(config),
      mode_(config.model_control) {}

Reloader::~Reloader() { Stop(); }

void Reloader::Deploy() {
  const Wanted wanted = WantedBy(config_);
  {
    absl::MutexLock lock(&mu_);
    unservable_ = wanted.unservable;
  }
  Await(wanted.awaited);
  for (const ModelConfig& model : wanted.models) {
    if (!IsBegunWith(model)) {
      generations_.Know(model, "");
      continue;
    }
    std::vector<ModelConfig> others;
    for (const ModelConfig& other : wanted.models) {
      if (&other != &model && IsBegunWith(other)) others.push_back(other);
    }
    generations_.Begin(model, others);
  }
  TellRefused();
}

// The config does not want a model that a client loads: the daemon is ready without it.
void Reloader::TellRefused() {
  const auto is_configured = [this](const ModelListing& listing) {
    return std::any_of(config_.models.begin(), config_.models.end(),
                       [&](const ModelConfig& model) { return model.name == listing.name; });
  };
  absl::MutexLock refused_lock(&refused_mu_);
  const bool loads_all = config_.model_control == ModelControlMode::kNone;
  std::vector<RefusedModel> refused;
  for (const ModelListing& listing : List()) {
    const bool was_refused = listing.state == "UNAVAILABLE" && !listing.reason.empty() &&
                             listing.reason != kUnloadedReason;
    if (!was_refused || parts_.models->Find(listing.name, listing.version) != nullptr) continue;
    refused.push_back(
        {listing.name, listing.version, listing.reason, loads_all || is_configured(listing)});
  }
  const auto awaited = [this] {
    absl::MutexLock lock(&mu_);
    return awaited_;
  }();
  for (const auto& [key, source] : awaited) {
    if (parts_.models->Find(key.name, key.version) != nullptr) continue;
    refused.push_back({key.name, key.version, parts_.puller->Text(source), true, true});
  }
  parts_.models->SetRefused(std::move(refused));
}

bool Reloader::IsBegunWith(const ModelConfig& model) const {
  absl::MutexLock lock(&mu_);
  return mode_ == ModelControlMode::kNone || !model.from_repository;
}

// A repository's model that has become faulty keeps its known config.
Reloader::Wanted Reloader::WantedBy(const Config& config) const {
  Wanted wanted;
  wanted.models = config.models;
  const auto is_configured = [&config](const std::string& name) {
    return std::any_of(config.models.begin(), config.models.end(),
                       [&name](const ModelConfig& model) { return model.name == name; });
  };
  FoundModels found = ModelRepository(config.model_repository, config.limits).ReadAll();
  for (ModelConfig& model : found.models) {
    if (is_configured(model.name)) {
      found.faults.emplace_back(model.name, "a model of this name is configured besides");
    } else {
      wanted.models.push_back(std::move(model));
    }
  }
  for (const auto& [name, fault] : found.faults) {
    parts_.logger->Log(LogLevel::kError, "model_not_servable",
                       {{"model", name}, {"reason", fault}});
    wanted.faults.push_back(absl::StrCat("model '", name, "': ", fault));
    if (is_configured(name)) continue;
    if (ServableNameFault(name).empty() && wanted.unservable.size() < kMaxRepositoryModels) {
      wanted.unservable[{name, ""}] = {{name, "", "UNAVAILABLE", fault}, FolderOf(config, name)};
    }
    for (ModelConfig& model : generations_.Sources(name)) wanted.models.push_back(std::move(model));
  }
  // Another revision is fetched while the known one serves.
  for (const ModelConfig& model : config.models) {
    if (model.awaits_hub()) wanted.awaited[model.key()] = model.hub;
  }
  std::erase_if(wanted.models, [](const ModelConfig& model) { return model.awaits_hub(); });
  for (const ModelConfig& known : generations_.Sources()) {
    if (wanted.awaited.count(known.key()) > 0) wanted.models.push_back(known);
  }
  for (ModelConfig& model : wanted.models) Complete(config, &model);
  // A model of steps starts after its members.
  std::stable_partition(wanted.models.begin(), wanted.models.end(),
                        [](const ModelConfig& model) { return !model.has_steps(); });
  for (const auto& [name, key] : found.notes) TellIgnored(name, key);
  return wanted;
}

// The folder may be gone by now; a model of the config has none.
std::string Reloader::FolderOf(const Config& config, const std::string& name) const {
  const auto is_it = [&name](const ModelConfig& model) { return model.name == name; };
  if (config.model_repository.empty()) return "";
  if (std::any_of(config.models.begin(), config.models.end(), is_it)) return "";
  return absl::StrCat(config.model_repository, "/", name);
}

// A known model has its own state, even if its files have become faulty. One that could not be
// served is gone with its folder.
std::vector<ModelListing> Reloader::List() const {
  std::vector<ModelListing> listings = generations_.List();
  std::set<ModelKey> known;
  for (const ModelListing& listing : listings) {
    known.insert({listing.name, listing.version});
    known.insert({listing.name, ""});
  }
  absl::MutexLock lock(&mu_);
  for (const auto& [key, source] : awaited_) {
    if (known.count(key) > 0) continue;
    listings.push_back({key.name, key.version, "LOADING", parts_.puller->Text(source)});
  }
  for (const auto& [key, unservable] : unservable_) {
    std::error_code error;
    const std::string& folder = unservable.folder;
    const bool is_gone = !folder.empty() && !std::filesystem::exists(folder, error);
    if (known.count(key) == 0 && !is_gone) listings.push_back(unservable.listing);
  }
  return listings;
}

void Reloader::TellPulls() {
  absl::MutexLock refused_lock(&refused_mu_);
  std::vector<RefusedModel> refused = parts_.models->refused();
  {
    absl::MutexLock lock(&mu_);
    for (RefusedModel& model : refused) {
      const auto awaited = awaited_.find({model.name, model.version});
      if (awaited != awaited_.end()) model.reason = parts_.puller->Text(awaited->second);
    }
  }
  parts_.models->SetRefused(std::move(refused));
}

void Reloader::Await(std::map<ModelKey, std::string> awaited) {
  std::vector<std::string> sources;
  for (const auto& [key, source] : awaited) sources.push_back(source);
  if (parts_.puller != nullptr) parts_.puller->Want(sources);
  absl::MutexLock lock(&mu_);
  awaited_ = std::move(awaited);
}

void Reloader::NoteUnservable(const ModelListing& listing) {
  const std::string folder = FolderOf(config_, listing.name);
  absl::MutexLock lock(&mu_);
  const auto of_model = [&listing](const auto& entry) {
    return entry.first.name == listing.name &&
           (listing.version.empty() || entry.first.version.empty());
  };
  std::erase_if(unservable_, of_model);
  const ModelKey key{listing.name, listing.version};
  const bool has_room = unservable_.size() < kMaxRepositoryModels;
  if (has_room || unservable_.count(key) > 0) unservable_[key] = {listing, folder};
}

void Reloader::TellIgnored(const std::string& model, const std::string& key) const {
  parts_.logger->Log(LogLevel::kInfo, "model_key_ignored", {{"model", model}, {"key", key}});
}

void Reloader::Start() {
  MPSD_CHECK(threads_.empty());
  for (size_t i = 0; i < kReloadThreads; ++i) threads_.emplace_back([this] { Main(); });
}

void Reloader::Begin() {
  absl::MutexLock lock(&mu_);
  has_begun_ = true;
}

void Reloader::Stop() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  std::deque<Job> refused;
  {
    absl::MutexLock lock(&mu_);
    refused.swap(jobs_);
  }
  for (const Job& job : refused) job.done(Exiting());
}

bool Reloader::GivenUp() const {
  absl::MutexLock lock(&mu_);
  return stopping_;
}

ReloadReport Reloader::LastReload() const {
  absl::MutexLock lock(&mu_);
  return last_reload_;
}

void Reloader::Reload(Done done) {
  {
    absl::MutexLock lock(&mu_);
    if (std::exchange(reload_waits_, true)) return;
  }
  // At most one waits, and one TakePulled(), so there is room.
  Enqueue({"", [this] { return RunReload(); }, std::move(done)}, kMaxReloadJobs + 2);
}

void Reloader::TakePulled(Done done) {
  {
    absl::MutexLock lock(&mu_);
    if (std::exchange(pulled_waits_, true)) return;
  }
  Enqueue({"", [this] { return RunPulled(); }, std::move(done)}, kMaxReloadJobs + 2);
}

void Reloader::Load(const std::string& name, const std::string& config, Done done) {
  Enqueue({name, [this, name, config] { return RunLoad(name, config); }, std::move(done)},
          kMaxReloadJobs);
}

void Reloader::Unload(const std::string& name, Done done) {
  Enqueue({name, [this, name] { return RunUnload(name); }, std::move(done)}, kMaxReloadJobs);
}

void Reloader::Enqueue(Job job, size_t most_jobs) {
  absl::Status refusal;
  {
    absl::MutexLock lock(&mu_);
    if (stopping_) {
      refusal = Exiting();
    } else if (jobs_.size() >= most_jobs) {
      refusal = Busy("too many models are waiting to be loaded");
    } else {
      jobs_.push_back(std::move(job));
    }
  }
  if (!refusal.ok()) job.done(refusal);
}

void Reloader::Main() {
  platform::NameThread("reloader");
  while (std::optional<Job> job = TakeJob()) {
    const absl::Status status = job->run();
    TellRefused();
    EndJob(job->model);
    job->done(GivenUp() && !status.ok() ? Exiting() : status);
  }
}

std::optional<size_t> Reloader::NextWaiting() const {
  std::vector<JobModel> waiting;
  for (const Job& job : jobs_) waiting.push_back(job.model);
  return NextJob(waiting, running_);
}

std::optional<Reloader::Job> Reloader::TakeJob() {
  const auto has_work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return stopping_ || (has_begun_ && NextWaiting().has_value());
  };
  absl::MutexLock lock(&mu_);
  mu_.Await(absl::Condition(&has_work));
  if (stopping_) return std::nullopt;
  const auto job = jobs_.begin() + static_cast<ptrdiff_t>(*NextWaiting());
  std::optional<Job> taken(std::move(*job));
  jobs_.erase(job);
  running_.push_back(taken->model);
  return taken;
}

void Reloader::EndJob(const JobModel& model) {
  absl::MutexLock lock(&mu_);
  running_.erase(std::find(running_.begin(), running_.end(), model));
}

// ---- the jobs ----

absl::Status Reloader::RunReload() {
  {
    absl::MutexLock lock(&mu_);
    reload_waits_ = false;
  }
  const absl::StatusOr<Config> config = parts_.read_config();
  if (config.ok()) Adopt(*config);
  const absl::StatusOr<std::string> outcome =
      config.ok() ? CarryOut(*config) : absl::StatusOr<std::string>(config.status());
  Note(outcome);
  return outcome.status();
}

// The config in force: the file may be half edited.
absl::Status Reloader::RunPulled() {
  {
    absl::MutexLock lock(&mu_);
    pulled_waits_ = false;
  }
  Config config = config_;
  for (ModelConfig& model : config.models) {
    const std::string folder = model.awaits_hub() ? parts_.puller->TakeFolder(model.hub) : "";
    if (!folder.empty()) SetHubFolder(folder, &model);
  }
  return CarryOut(config).status();
}

void Reloader::Adopt(const Config& config) {
  for (const std::string& key : KeysThatNeedARestart(started_with_, config)) {
    parts_.logger->Log(LogLevel::kWarn, "config_needs_restart", {{"key", key}});
  }
  parts_.apply(config);
  absl::MutexLock lock(&mu_);
  mode_ = config.model_control;
}

absl::StatusOr<std::string> Reloader::CarryOut(const Config& config) {
  const bool may_be_unloaded = config.model_control == ModelControlMode::kExplicit;
  const Wanted wanted = WantedBy(config);
  {
    absl::MutexLock lock(&mu_);
    unservable_ = wanted.unservable;
  }
  Await(wanted.awaited);
  config_ = config;
  const ReloadPlan plan = PlanReload(generations_.Sources(), wanted.models);
  std::vector<std::string> failures = wanted.faults;
  for (const ModelConfig& model : wanted.models) {
    if (GivenUp()) return Exiting();
    const bool is_kept = std::count(plan.keep.begin(), plan.keep.end(), model.key()) > 0;
    const bool is_new = std::count(plan.add.begin(), plan.add.end(), model) > 0;
    const bool is_served =
        generations_.IsServed(model.key()) && !generations_.HasFailed(model.key());
    if (is_kept && (is_served || may_be_unloaded)) continue;
    if (is_new ? !IsBegunWith(model) : !is_served && may_be_unloaded) {
      generations_.Know(model, is_new ? "" : kUnloadedReason);
    } else if (absl::Status status = Swap(model, model); !status.ok()) {
      failures.emplace_back(status.message());
    }
  }
  for (const ModelKey& key : plan.remove) {
    generations_.Remove(key);
    parts_.logger->Log(LogLevel::kInfo, "model_removed",
                       {{"model", key.name}, {"version", key.version}});
  }
  if (failures.empty()) return PlanText(plan);
  return absl::FailedPreconditionError(absl::StrJoin(failures, "; "));
}

void Reloader::Note(const absl::StatusOr<std::string>& outcome) {
  const int64_t now_ms = absl::ToUnixMillis(absl::Now());
  parts_.metrics->config_reload_ok = outcome.ok() ? 1 : 0;
  parts_.metrics->config_reloads.fetch_add(1);
  if (!outcome.ok()) parts_.metrics->failed_config_reloads.fetch_add(1);
  parts_.metrics->config_reload_time_s = now_ms / 1000;
  const std::string text = outcome.ok() ? *outcome : std::string(outcome.status().message());
  if (outcome.ok()) {
    parts_.logger->Log(LogLevel::kInfo, "config_reloaded", {{"models", text}});
  } else {
    parts_.logger->Log(LogLevel::kError, "config_not_reloaded", {{"reason", text}});
  }
  absl::MutexLock lock(&mu_);
  last_reload_ = {outcome.ok(), now_ms, text};
}

absl::Status Reloader::RunLoad(const std::string& name, const std::string& override_json) {
  if (absl::Status status = CheckAllowed(); !status.ok()) return status;
  const absl::StatusOr<std::vector<ModelConfig>> sources = SourcesOf(name);
  if (!sources.ok()) {
    const std::string reason(sources.status().message());
    if (absl::IsInvalidArgument(sources.status())) {
      NoteUnservable({name, "", "UNAVAILABLE", reason});
    }
    return NotPolled(name, sources.status());
  }
  TritonNotes notes;
  for (const ModelConfig& source : *sources) {
    ModelConfig model = source;
    notes.ignored.clear();
    if (!override_json.empty()) {
      const absl::Status status = ApplyTritonJson(override_json, &model, &notes);
      if (!status.ok()) return NotPolled(name, status);
    }
    if (absl::Status status = Swap(source, model); !status.ok()) return status;
  }
  for (const std::string& key : notes.ignored) TellIgnored(name, key);
  for (const ModelConfig& known : generations_.Sources(name)) {
    const auto is_it = [&known](const ModelConfig& source) { return source.key() == known.key(); };
    if (std::none_of(sources->begin(), sources->end(), is_it)) generations_.Remove(known.key());
  }
  return absl::OkStatus();
}

// All versions, with their current files.
absl::StatusOr<std::vector<ModelConfig>> Reloader::SourcesOf(const std::string& name) const {
  std::vector<ModelConfig> sources = config_.models;
  std::erase_if(sources, [&name](const ModelConfig& model) { return model.name != name; });
  for (const ModelConfig& source : sources) {
    if (source.awaits_hub()) return absl::UnavailableError(parts_.puller->Text(source.hub));
  }
  for (ModelConfig& source : sources) {
    if (!source.path.empty()) source.stamp = StampOf(source.path);
    const std::string& tokenizer = source.text.tokenizer;
    if (!tokenizer.empty()) source.tokenizer_stamp = StampOfTokenizer(tokenizer);
  }
  for (ModelConfig& source : sources) Complete(config_, &source);
  if (!sources.empty()) return sources;
  if (!ServableNameFault(name).empty()) return absl::NotFoundError("no model can have this name");
  absl::StatusOr<FoundModels> found =
      ModelRepository(config_.model_repository, config_.limits).Read(name);
  if (!found.ok()) return found.status();
  for (ModelConfig& model : found->models) Complete(config_, &model);
  return std::move(found->models);
}

absl::Status Reloader::RunUnload(const std::string& name) {
  if (absl::Status status = CheckAllowed(); !status.ok()) return status;
  const std::vector<ModelConfig> sources = generations_.Sources(name);
  if (sources.empty()) {
    return absl::NotFoundError(
        absl::StrCat("Request for unknown model: '", name, "' is not found"));
  }
  for (const ModelConfig& source : sources) {
    generations_.Unload(source.key());
    parts_.logger->Log(LogLevel::kInfo, "model_unloaded",
                       {{"model", source.name}, {"version", source.version}});
  }
  return absl::OkStatus();
}

absl::Status Reloader::CheckAllowed() const {
  absl::MutexLock lock(&mu_);
  if (mode_ == ModelControlMode::kExplicit) return absl::OkStatus();
  return absl::UnavailableError("explicit model load / unload is not allowed");
}

absl::Status Reloader::Swap(const ModelConfig& source, const ModelConfig& model) {
  if (generations_.IsUpToDate(model)) return absl::OkStatus();
  absl::Status status = generations_.Swap(source, model, [this] { return GivenUp(); });
  if (!status.ok()) {
    parts_.metrics->model_load_failures.fetch_add(1);
    parts_.logger->Log(
        LogLevel::kError, "model_not_loaded",
        {{"model", model.name}, {"version", model.version}, {"reason", status.message()}});
    NoteUnservable({model.name, model.version, "UNAVAILABLE", std::string(status.message())});
    return LoadFailed(model.name, status);
  }
  {
    absl::MutexLock lock(&mu_);
    unservable_.erase(model.key());
    unservable_.erase({model.name, ""});
  }
  parts_.logger->Log(LogLevel::kInfo, "model_loaded",
                     {{"model", model.name}, {"version", model.version}});
  return status;
}

}  // namespace mpsd
