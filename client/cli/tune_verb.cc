#include "client/cli/tune_verb.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "client/cli/exit_code.h"
#include "client/cli/server_options.h"
#include "client/cli/tune_report.h"
#include "client/tune/stop_signals.h"
#include "client/tune/trial.h"
#include "client/tune/tune_budget.h"
#include "client/tune/tune_config.h"
#include "client/tune/tune_plan.h"
#include "proto/base/child_output.h"
#include "proto/base/clock.h"
#include "proto/base/platform.h"
#include "proto/base/units.h"
#include "proto/files/whole_file.h"

namespace mpsd::cli {
namespace {

using tune::Candidate;
using tune::Trial;
using tune::TrialState;
using tune::TuneConfig;

constexpr uint64_t kMostConfigBytes = 1 << 20;
constexpr int64_t kCheckNs = 60 * kNsPerSecond;
constexpr size_t kMostFirstFailures = 2;  // failing candidates before any that serves

struct TuneTask {
  std::string config_path;
  tune::TrialSetup setup;
  absl::Duration budget;
};

absl::StatusOr<absl::Duration> ReadDuration(const char* option, const std::string& text) {
  const absl::StatusOr<int64_t> ns = ParseDurationNs(text);
  if (ns.ok() && *ns > 0) return absl::Nanoseconds(*ns);
  return absl::InvalidArgumentError(absl::StrCat(
      "--", option, ": ", ns.ok() ? "must be more than 0" : std::string(ns.status().message())));
}

absl::StatusOr<std::string> FindConfig(const TuneOptions& options) {
  if (!options.config.empty()) return options.config;
  for (const std::string& place : options.places) {
    std::error_code ignored;
    if (std::filesystem::exists(place, ignored)) return place;
  }
  return absl::NotFoundError(
      absl::StrCat("there is no config: ", absl::StrJoin(options.places, ", "),
                   "; --config names one, `mpsd init FILE` writes one"));
}

std::string FolderOf(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::absolute(path, ignored).lexically_normal().parent_path().string();
}

// The text is the daemon's own.
Failure CheckConfig(const std::string& program, const std::string& path) {
  const absl::StatusOr<ChildOutput> checked = RunChild(program, {"check", path}, kCheckNs);
  if (!checked.ok()) return {kExitWrongConfig, checked.status()};
  if (checked->exit_code == kExitOk) return {};
  return {kExitWrongConfig, absl::InvalidArgumentError(absl::StrCat(
                                path, " has mistakes:\n", absl::StripSuffix(checked->text, "\n")))};
}

Failure ReadSetup(const TuneOptions& options, TuneTask* task) {
  const auto slo = bench::ParseSlo(options.slo);
  if (!slo.ok())
    return {kExitUsage,
            absl::InvalidArgumentError(absl::StrCat("--slo: ", slo.status().message()))};
  const auto budget = ReadDuration("budget", options.budget);
  if (!budget.ok()) return {kExitUsage, budget.status()};
  const auto start_limit = ReadDuration("start-timeout", options.start_timeout);
  if (!start_limit.ok()) return {kExitUsage, start_limit.status()};
  auto wishes = ReadRequestWishes(options.requests);
  if (!wishes.ok()) {
    return {absl::IsInvalidArgument(wishes.status()) ? kExitUsage : kExitNoInput, wishes.status()};
  }
  task->budget = *budget;
  task->setup.slo = *slo;
  task->setup.requests = *std::move(wishes);
  task->setup.duration = tune::LoadDuration(absl::Seconds(options.seconds), *slo);
  task->setup.start_limit = *start_limit;
  return {};
}

// This is checked before any measurement.
Failure OutputFault(const TuneOptions& options) {
  if (options.output.empty()) return {};
  std::error_code ignored;
  if (!options.force && std::filesystem::exists(options.output, ignored)) {
    return {kExitUsage, absl::AlreadyExistsError(absl::StrCat(
                            options.output, " is there already; --force overwrites it"))};
  }
  const std::string folder = FolderOf(options.output);
  if (access(folder.c_str(), W_OK) == 0) return {};
  return {kExitCannotWrite, absl::NotFoundError(absl::StrCat("cannot write to ", folder))};
}

Failure ReadTask(const TuneOptions& options, TuneTask* task) {
  if (const Failure failure = ReadSetup(options, task)) return failure;
  if (const Failure failure = OutputFault(options)) return failure;
  const auto config = FindConfig(options);
  if (!config.ok()) return {kExitWrongConfig, config.status()};
  task->config_path = *config;
  task->setup.program = options.program;
  if (options.program.empty()) {
    const absl::StatusOr<std::string> program = platform::ExecutablePath();
    if (!program.ok()) return {kExitServerError, program.status()};
    task->setup.program = *program;
  }
  return CheckConfig(task->setup.program, task->config_path);
}

absl::StatusOr<TuneConfig> ReadTuneConfig(const std::string& path, const std::string& model) {
  const absl::StatusOr<std::string> text = ReadWholeFile(path, kMostConfigBytes);
  if (!text.ok()) return text.status();
  return TuneConfig::Parse(*text, FolderOf(path), model);
}

// Begins once everything is read. Lives on one thread.
class TuneRun {
 public:
  TuneRun(const TuneOptions& options, TuneTask task, TuneConfig config, std::ostream& out)
      : options_(options), task_(std::move(task)), config_(std::move(config)), out_(out) {
    report_.model = options.model;
    report_.config = task_.config_path;
    report_.cores = platform::UsableCores();
    report_.others = config_.others();
    report_.slo = task_.setup.slo;
  }

  Failure Search() {
    tune::TunePlan plan(
        {.cores = report_.cores,
         .configured = config_.placement(),
         .max_batch_size = config_.max_batch_size(),
         .rows = static_cast<uint32_t>(std::max<int64_t>(options_.requests.rows, 1)),
         .precisions = options_.precisions});
    if (!options_.json) out_ << TuneTitles() << std::flush;
    tune::TuneBudget budget(task_.budget);
    const absl::Time start = absl::Now();
    while (const auto candidate = plan.Next()) {
      const absl::Time begin = absl::Now();
      if (!budget.Fits(begin - start)) break;
      const Trial trial = RunTrial(task_.setup, config_, *candidate);
      if (task_.setup.stop()) return Stopped();
      Keep(trial);
      if (const Failure failure = FaultOf(trial)) return failure;
      if (report_.trials.size() == 1 && trial.processes > 0) {
        plan.Learn(trial.device, trial.max_batch_size);
      }
      plan.Add(*candidate, trial.rate());
      budget.Add(absl::Now() - begin);
    }
    for (const Candidate& candidate : plan.Rest()) {
      Keep({.candidate = candidate, .reason = "--budget is spent"});
    }
    return Choose(plan.best());
  }

  // Writes the changed config, and reports the best.
  Failure Write() {
    report_.changes = config_.Changes(report_.best->candidate);
    absl::Status written;
    if (!options_.output.empty()) {
      written = WriteWholeFile(options_.output, ChangedText());
      if (written.ok()) report_.output = options_.output;
    }
    if (!options_.json) out_ << BestText(report_) << std::flush;
    if (!written.ok()) return {kExitCannotWrite, written};
    return report_.output.empty() ? Failure{} : CheckConfig(task_.setup.program, report_.output);
  }

  Failure Verify() {
    const auto changed = TuneConfig::Parse(ChangedText(), FolderOf(OutputPath()), options_.model);
    if (!changed.ok()) return {kExitServerError, changed.status()};
    auto seen = tune::Verify(task_.setup, *changed, report_.best->rate());
    if (task_.setup.stop()) return Stopped();
    if (!seen.ok()) return {kExitServerError, seen.status()};
    report_.verified = *std::move(seen);
    if (!options_.json) out_ << VerifiedText(report_) << std::flush;
    if (report_.verified->meets_slo) return {};
    return {kExitServerError, absl::ResourceExhaustedError(
                                  absl::StrCat("the best does not hold ", SloText(report_.slo)))};
  }

  // Ends a run with measurements.
  void Finish() {
    if (options_.json && !report_.trials.empty()) out_ << TuneJson(report_);
  }

 private:
  static Failure Stopped() {
    return {kExitServerError, absl::CancelledError("stopped by a signal")};
  }

  void Keep(const Trial& trial) {
    report_.trials.push_back(trial);
    if (!options_.json) out_ << TrialLine(trial) << std::flush;
  }

  // Why no further candidate will do better.
  Failure FaultOf(const Trial& trial) const {
    if (trial.state == TrialState::kWrongRequests) {
      return {kExitUsage, absl::InvalidArgumentError(trial.reason)};
    }
    const auto failed = [](const Trial& one) { return one.state == TrialState::kFailed; };
    const std::vector<Trial>& trials = report_.trials;
    if (trials.size() < kMostFirstFailures || !std::all_of(trials.begin(), trials.end(), failed)) {
      return {};
    }
    return {kExitServerError,
            absl::UnavailableError(absl::StrCat("model '", options_.model,
                                                "' cannot be measured: ", trials.front().reason))};
  }

  // After two tries the last one counts.
  Failure Choose(const std::optional<Candidate>& best) {
    for (const Trial& trial : report_.trials) {
      if (best && trial.candidate == *best && trial.rate() > 0) report_.best = trial;
    }
    if (report_.best) return {};
    return {kExitServerError, absl::ResourceExhaustedError(
                                  absl::StrCat("no candidate meets ", SloText(report_.slo)))};
  }

  std::string OutputPath() const {
    return options_.output.empty() ? task_.config_path : options_.output;
  }

  std::string ChangedText() const {
    return config_.ChangedText(report_.best->candidate, FolderOf(OutputPath()));
  }

  const TuneOptions& options_;
  const TuneTask task_;
  const TuneConfig config_;
  std::ostream& out_;
  TuneReport report_;
};

}  // namespace

int RunTune(const TuneOptions& options, std::ostream& out, std::ostream& err) {
  const tune::StopSignals signals;
  TuneTask task;
  if (const Failure failure = ReadTask(options, &task)) {
    return Fail(err, failure.code, failure.status);
  }
  task.setup.stop = [&signals] { return signals.Pending(); };
  auto config = ReadTuneConfig(task.config_path, options.model);
  if (!config.ok()) return Fail(err, kExitWrongConfig, config.status());
  TuneRun run(options, std::move(task), *std::move(config), out);
  Failure failure = run.Search();
  if (!failure) failure = run.Write();
  if (!failure) failure = run.Verify();
  run.Finish();
  return failure ? Fail(err, failure.code, failure.status) : kExitOk;
}

}  // namespace mpsd::cli
