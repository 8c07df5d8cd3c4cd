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
#include "client/cli/exit_code.h"
#include "client/cli/pull_progress.h"
#include "client/cli/server_options.h"
#include "client/format/table.h"
#include "client/hub/hub_cache.h"
#include "client/hub/hub_settings.h"
#include "client/hub/pull.h"
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
                                 {"bytes", model->bytes},
                                 {"fetched", model->fetched}}));
  }
  return WriteReport(out, err, model->path + "\n");
}

int RunModels(const HubOptions& options, std::ostream& out, std::ostream& err) {
  const absl::StatusOr<hub::HubSettings> settings = Settings();
  if (!settings.ok()) return Fail(err, kExitUsage, settings.status());
  const std::vector<hub::KeptModel> models = hub::HubCache(settings->cache).Models();
  if (options.json) {
    nlohmann::json report = nlohmann::json::array();
    for (const hub::KeptModel& model : models) {
      report.push_back({{"model", model.name.Repository()},
                        {"commit", model.name.revision},
                        {"bytes", model.bytes},
                        {"path", model.path}});
    }
    return WriteReport(out, err, JsonLine(report));
  }
  if (models.empty()) {
    return WriteReport(out, err, absl::StrCat("no models in ", settings->cache, "\n"));
  }
  Table table({{"MODEL"}, {"REVISION"}, {"SIZE", kRight}, {"FOLDER"}});
  for (const hub::KeptModel& model : models) {
    table.AddRow({model.name.Repository(), model.name.revision.substr(0, 12),
                  BytesText(model.bytes), model.path});
  }
  return WriteReport(out, err, table.Text());
}

int RunRemove(const HubOptions& options, std::ostream& out, std::ostream& err) {
  const absl::StatusOr<hub::HubName> name = NameOf(options.model);
  if (!name.ok()) return Fail(err, kExitUsage, name.status());
  const absl::StatusOr<hub::HubSettings> settings = Settings();
  if (!settings.ok()) return Fail(err, kExitUsage, settings.status());
  const absl::Status removed = hub::HubCache(settings->cache).Remove(*name);
  if (!removed.ok()) {
    return Fail(err, absl::IsNotFound(removed) ? kExitNoInput : kExitCannotWrite, removed);
  }
  return WriteReport(out, err, absl::StrCat("removed ", name->Repository(), "\n"));
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
  if (!pulled.ok() && absl::IsUnavailable(pulled.status())) {
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
