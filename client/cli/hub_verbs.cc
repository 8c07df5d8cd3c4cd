#include "client/cli/hub_verbs.h"

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/cli/config_verdict.h"
#include "client/cli/exit_code.h"
#include "client/cli/pull_progress.h"
#include "client/cli/server_options.h"
#include "client/format/table.h"
#include "client/hub/hub_cache.h"
#include "client/hub/hub_settings.h"
#include "client/hub/pull.h"
#include "client/tune/private_folder.h"
#include "proto/base/units.h"
#include "proto/files/hub_name.h"

namespace mpsd::cli {
namespace {

absl::StatusOr<hub::HubSettings> Settings() {
  return hub::ReadHubSettings([](const char* name) { return std::getenv(name); });
}

absl::StatusOr<hub::HubName> NameOf(const std::string& text) {
  std::optional<hub::HubName> name = hub::ParseHubName(text);
  if (name.has_value()) return *std::move(name);
  return absl::InvalidArgumentError(
      absl::StrCat("'", text, "' is no ORG/NAME or ORG/NAME@REVISION"));
}

ExitCode CodeOf(const absl::Status& status) {
  if (absl::IsUnavailable(status)) return kExitNotReachable;
  if (absl::IsDataLoss(status)) return kExitCannotWrite;
  if (absl::IsFailedPrecondition(status)) return kExitNoInput;
  return kExitServerError;
}

absl::StatusOr<hub::PulledModel> PullWith(const hub::HubSettings& settings,
                                          const hub::HubName& name, PullProgressLine::Form form,
                                          std::ostream& shown) {
  PullProgressLine line(name.Repository(), form, shown);
  const hub::PullWatch watch = {
      [&line](const hub::PullProgress& progress) { line.Show(progress, absl::Now()); },
      [&line](const std::string& text) { line.Say(text); }};
  absl::StatusOr<hub::PulledModel> model = hub::Pull(settings, name, watch);
  line.End();
  return model;
}

// The same for all if the worker cannot tell.
std::vector<ConfigVerdict> VerdictsOf(const std::vector<hub::KeptModel>& models,
                                      const std::string& worker) {
  if (models.empty()) return {};
  std::vector<ConfigFolder> folders;
  for (const hub::KeptModel& model : models) folders.push_back({model.path, model.files});
  const auto verdicts = ConfigVerdicts(folders, worker);
  if (verdicts.ok()) return *verdicts;
  const std::string why = absl::StrCat("unknown: ", verdicts.status().message());
  return {models.size(), ConfigVerdict{.text = why}};
}

std::string JsonLine(const nlohmann::json& object) {
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

bool IsHubModel(const std::string& text) {
  std::error_code error;
  const bool is_file = absl::EndsWith(text, ".pt") || absl::EndsWith(text, ".pt2");
  return hub::ParseHubName(text).has_value() && !is_file && !std::filesystem::exists(text, error);
}

int RunPull(const HubOptions& options, std::ostream& out, std::ostream& err) {
  const absl::StatusOr<hub::HubName> name = NameOf(options.model);
  if (!name.ok()) return Fail(err, kExitUsage, name.status());
  const absl::StatusOr<hub::HubSettings> settings = Settings();
  if (!settings.ok()) return Fail(err, kExitUsage, settings.status());
  using Form = PullProgressLine::Form;
  const Form form = options.json          ? Form::kJson
                    : options.is_terminal ? Form::kTerminal
                                          : Form::kLines;
  const auto model = PullWith(*settings, *name, form, options.json ? out : err);
  if (!model.ok()) return Fail(err, CodeOf(model.status()), model.status());
  if (options.json) {
    return WriteReport(out, err,
                       JsonLine({{"event", "done"},
                                 {"model", name->Repository()},
                                 {"commit", model->commit},
                                 {"path", model->path},
                                 {"bytes", hub::BytesOf(model->files)},
                                 {"fetched", model->fetched}}));
  }
  return WriteReport(out, err, model->path + "\n");
}

int RunModels(const HubOptions& options, std::ostream& out, std::ostream& err) {
  const absl::StatusOr<hub::HubSettings> settings = Settings();
  if (!settings.ok()) return Fail(err, kExitUsage, settings.status());
  const std::vector<hub::KeptModel> models = hub::HubCache(settings->cache).Models();
  const std::vector<ConfigVerdict> verdicts = VerdictsOf(models, options.worker);
  if (options.json) {
    nlohmann::json report = nlohmann::json::array();
    for (size_t i = 0; i < models.size(); ++i) {
      const hub::KeptModel& model = models[i];
      report.push_back({{"model", model.name.Repository()},
                        {"commit", model.name.revision},
                        {"bytes", hub::BytesOf(model.files)},
                        {"path", model.path},
                        {"task", verdicts[i].task},
                        {"serves", verdicts[i].text}});
    }
    return WriteReport(out, err, JsonLine(report));
  }
  if (models.empty()) {
    return WriteReport(out, err, absl::StrCat("no models in ", settings->cache, "\n"));
  }
  Table table({{"MODEL"}, {"REVISION"}, {"SIZE", kRight}, {"FOLDER"}, {"SERVES"}});
  for (size_t i = 0; i < models.size(); ++i) {
    const hub::KeptModel& model = models[i];
    table.AddRow({model.name.Repository(), model.name.revision.substr(0, 12),
                  BytesText(hub::BytesOf(model.files)), model.path, verdicts[i].text});
  }
  return WriteReport(out, err, table.Text());
}

int RunInspectModel(const HubOptions& options, std::ostream& out, std::ostream& err) {
  const absl::StatusOr<hub::HubName> name = NameOf(options.model);
  if (!name.ok()) return Fail(err, kExitUsage, name.status());
  absl::StatusOr<hub::HubSettings> settings = Settings();
  if (!settings.ok()) return Fail(err, kExitUsage, settings.status());
  // A cache of configs alone would look like a whole model to others.
  const absl::StatusOr<tune::PrivateFolder> folder = tune::PrivateFolder::Make();
  if (!folder.ok()) return Fail(err, kExitCannotWrite, folder.status());
  if (!settings->offline) settings->cache = folder->path();
  const hub::PullWatch watch = {[](const hub::PullProgress&) {},
                                [&err](const std::string& text) { err << text << "\n"; }};
  const auto model = hub::Pull(*settings, *name, watch, hub::Wanted::kConfigs);
  if (!model.ok()) return Fail(err, CodeOf(model.status()), model.status());
  const auto verdicts = ConfigVerdicts({{model->path, model->files}}, options.worker);
  if (!verdicts.ok()) return Fail(err, kExitNoInput, verdicts.status());
  const ConfigVerdict& verdict = verdicts->front();
  const uint64_t bytes = hub::BytesOf(model->files);
  if (options.json) {
    return WriteReport(out, err,
                       JsonLine({{"model", name->Repository()},
                                 {"commit", model->commit},
                                 {"bytes", bytes},
                                 {"task", verdict.task},
                                 {"routes", verdict.routes},
                                 {"serves", verdict.text}}));
  }
  return WriteReport(
      out, err, absl::StrCat(name->Repository(), ", ", BytesText(bytes), ": ", verdict.text, "\n"));
}

int RunRemove(const HubOptions& options, std::ostream& out, std::ostream& err) {
  const absl::StatusOr<hub::HubName> name = NameOf(options.model);
  if (!name.ok()) return Fail(err, kExitUsage, name.status());
  if (absl::StrContains(options.model, '@')) {
    return Fail(err, kExitUsage,
                absl::InvalidArgumentError("rm removes all revisions of a model: name none"));
  }
  const absl::StatusOr<hub::HubSettings> settings = Settings();
  if (!settings.ok()) return Fail(err, kExitUsage, settings.status());
  const absl::Status removed = hub::HubCache(settings->cache).Remove(*name);
  if (!removed.ok()) {
    return Fail(err, absl::IsNotFound(removed) ? kExitNoInput : kExitCannotWrite, removed);
  }
  return WriteReport(out, err, absl::StrCat("removed ", name->Repository(), "\n"));
}

std::string KeptFolder(const std::string& model) {
  const absl::StatusOr<hub::HubName> name = NameOf(model);
  absl::StatusOr<hub::HubSettings> settings = Settings();
  if (!name.ok() || !settings.ok()) return "";
  settings->offline = true;
  const auto kept = hub::Pull(*settings, *name, {});
  return kept.ok() ? kept->path : "";
}

absl::StatusOr<std::string> PullToServe(const std::string& model, std::ostream& err,
                                        bool is_terminal) {
  const absl::StatusOr<hub::HubName> name = NameOf(model);
  if (!name.ok()) return name.status();
  absl::StatusOr<hub::HubSettings> settings = Settings();
  if (!settings.ok()) return settings.status();
  using Form = PullProgressLine::Form;
  const Form form = is_terminal ? Form::kTerminal : Form::kLines;
  absl::StatusOr<hub::PulledModel> pulled = PullWith(*settings, *name, form, err);
  const bool may_pass =
      absl::IsUnavailable(pulled.status()) || absl::IsResourceExhausted(pulled.status());
  if (may_pass) {
    settings->offline = true;
    const auto kept = PullWith(*settings, *name, form, err);
    if (kept.ok()) {
      err << "mpsd: " << pulled.status().message() << "; serving what the cache has" << std::endl;
      return kept->path;
    }
  }
  if (pulled.ok()) return pulled->path;
  return absl::Status(
      pulled.status().code(),
      absl::StrCat("there is no folder '", model, "' here, and ", pulled.status().message()));
}

}  // namespace mpsd::cli
