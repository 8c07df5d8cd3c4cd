#include "client/cli/ps_verb.h"

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "client/cli/infer_server.h"
#include "client/client.h"
#include "client/format/table.h"
#include "proto/base/units.h"

namespace mpsd::cli {
namespace {

using client::DaemonStatus;
using client::ModelStatus;
using client::WorkerStatus;
using Json = nlohmann::json;

// Shows the two largest units: "3d 4h", "7s".
std::string UptimeText(int64_t uptime_ms) {
  const int64_t seconds = uptime_ms < 0 ? 0 : uptime_ms / 1000;
  const int64_t minutes = seconds / 60;
  const int64_t hours = minutes / 60;
  if (hours >= 24) return absl::StrCat(hours / 24, "d ", hours % 24, "h");
  if (hours > 0) return absl::StrCat(hours, "h ", minutes % 60, "m");
  if (minutes > 0) return absl::StrCat(minutes, "m ", seconds % 60, "s");
  return absl::StrCat(seconds, "s");
}

std::string OrDash(const std::string& text) { return text.empty() ? "-" : text; }

// "m 1", or "m" if no version is known.
std::string VersionText(const ModelStatus& model) {
  return model.version.empty() ? model.name : absl::StrCat(model.name, " ", model.version);
}

std::string HeadText(const DaemonStatus& daemon, const std::string& address) {
  const int64_t uptime_ms = absl::ToUnixMillis(absl::Now()) - daemon.start_time_ms;
  return absl::StrCat(daemon.server_name, " ", daemon.server_version, " at ", address, ", ",
                      daemon.ready ? "ready" : "not ready", ", up ", UptimeText(uptime_ms), "\n");
}

// Empty if there was no reload since the start.
std::string ReloadText(const client::ReloadStatus& reload) {
  if (reload.time_ms == 0) return "";
  const int64_t age_ms = absl::ToUnixMillis(absl::Now()) - reload.time_ms;
  return absl::StrCat("config ", reload.ok ? "reloaded " : "NOT RELOADED ", UptimeText(age_ms),
                      " ago: ", reload.text, "\n");
}

// The reason gets its own line: "unavailable: it throws".
std::string ShortState(const ModelStatus& model) {
  return OrDash(model.state.substr(0, model.state.find(':')));
}

std::string ReasonText(const ModelStatus& model) {
  if (!absl::StrContains(model.state, ':')) return "";
  return absl::StrCat(VersionText(model), ": ", model.state, "\n");
}

std::string WarningText(const ModelStatus& model) {
  if (model.warning.empty()) return "";
  return absl::StrCat(VersionText(model), ": warning: ", model.warning, "\n");
}

std::string PrecisionText(const ModelStatus& model) {
  if (model.precision_note.empty()) return "";
  return absl::StrCat(VersionText(model), ": ", model.precision, ": ", model.precision_note, "\n");
}

std::string QuarantineText(const ModelStatus& model) {
  if (model.refused_contents.empty()) return "";
  const auto describe = [](std::string* out, const client::RefusedContent& content) {
    absl::StrAppendFormat(out, "%016x %s ago", content.fingerprint, UptimeText(content.age_ms));
  };
  return absl::StrCat(
      VersionText(model), ": refuses ", model.refused_contents.size(),
      " contents that crashed a worker; refused requests so far: ", model.quarantined_requests,
      "; `mpsd forgive ", model.name, "` takes them again\n  ",
      absl::StrJoin(model.refused_contents, "\n  ", describe), "\n");
}

// They do not fit in a table's column.
std::string RemarksText(const DaemonStatus& daemon) {
  std::string text;
  for (const ModelStatus& model : daemon.models) {
    absl::StrAppend(&text, ReasonText(model), WarningText(model), PrecisionText(model),
                    QuarantineText(model));
  }
  return text.empty() ? "" : text + "\n";
}

std::string ModelsText(const DaemonStatus& daemon, bool colours) {
  Table table({{"MODEL"},
               {"VERSION"},
               {"STATE", Table::Align::kLeft, ColourOfState},
               {"PLATFORM"},
               {"DEVICE"},
               {"PRECISION"},
               {"WORKERS", kRight},
               {"LANES", kRight},
               {"MAX BATCH", kRight},
               {"QUEUED", kRight},
               {"RUNNING", kRight},
               {"TENSORS"}});
  for (const ModelStatus& model : daemon.models) {
    table.AddRow({model.name, OrDash(model.version), ShortState(model), OrDash(model.platform),
                  OrDash(model.device), OrDash(model.precision), absl::StrCat(model.workers.size()),
                  absl::StrCat(model.lanes),
                  model.max_batch_size > 0 ? absl::StrCat(model.max_batch_size) : "-",
                  absl::StrCat(model.queued_requests), absl::StrCat(model.running_batches),
                  OrDash(model.spec)});
  }
  return table.Text(colours);
}

// ", driver guard held"; empty: there is no such thing.
std::string Clause(absl::string_view before, const std::string& word) {
  return word.empty() || word == "none" ? "" : absl::StrCat(before, word);
}

// "torch 2.9.1 patched, driver guard held, inputs in_place", as far as it applies.
std::string RuntimeText(const WorkerStatus& worker) {
  if (worker.runtime.empty()) return "-";
  return absl::StrCat(worker.runtime, worker.runtime_kind.empty() ? "" : " ", worker.runtime_kind,
                      Clause(", driver guard ", worker.driver_guard),
                      Clause(", inputs ", worker.input_memory));
}

// "serving", "serving (draining)", "serving, takes 3.1 times as long".
std::string StateText(const WorkerStatus& worker) {
  const std::string state = worker.generation.empty()
                                ? OrDash(worker.state)
                                : absl::StrCat(worker.state, " (", worker.generation, ")");
  if (worker.slowness <= 1) return state;
  return absl::StrFormat("%s, takes %.1f times as long", state, worker.slowness);
}

std::vector<std::string> WorkerRow(const ModelStatus& model, const WorkerStatus& worker) {
  return {model.name,
          absl::StrCat(worker.index),
          worker.pid > 0 ? absl::StrCat(worker.pid) : "-",
          absl::StrCat(worker.epoch),
          StateText(worker),
          OrDash(worker.device),
          RuntimeText(worker),
          absl::StrCat(worker.lanes),
          BytesText(worker.resident_bytes),
          absl::StrCat(worker.restarts),
          UptimeText(worker.uptime_ms),
          OrDash(worker.last_exit)};
}

// Names, for each gpu that was passed over, the models that run elsewhere.
std::string DeviceNotesText(const DaemonStatus& daemon) {
  std::map<std::string, std::vector<std::string>> models;
  for (const ModelStatus& model : daemon.models) {
    if (!model.device_note.empty()) models[model.device_note].push_back(model.name);
  }
  std::string text;
  for (const auto& [note, names] : models) {
    absl::StrAppend(&text, absl::StrJoin(names, ", "), ": ", note, "\n");
  }
  return text;
}

std::string WorkersText(const DaemonStatus& daemon, bool colours) {
  Table table({{"MODEL"},
               {"WORKER", kRight},
               {"PID", kRight},
               {"EPOCH", kRight},
               {"STATE", Table::Align::kLeft, ColourOfState},
               {"DEVICE"},
               {"RUNTIME"},
               {"LANES", kRight},
               {"MEMORY", kRight},
               {"RESTARTS", kRight},
               {"UPTIME", kRight},
               {"LAST EXIT"}});
  for (const ModelStatus& model : daemon.models) {
    for (const WorkerStatus& worker : model.workers) table.AddRow(WorkerRow(model, worker));
  }
  return table.Text(colours);
}

Json WorkerJson(const WorkerStatus& worker) {
  return {{"index", worker.index},
          {"pid", worker.pid},
          {"epoch", worker.epoch},
          {"state", worker.state},
          {"lanes", worker.lanes},
          {"device", worker.device},
          {"runtime", worker.runtime},
          {"runtime_kind", worker.runtime_kind},
          {"runtime_path", worker.runtime_path},
          {"driver_guard", worker.driver_guard},
          {"input_memory", worker.input_memory},
          {"slowness", worker.slowness},
          {"resident_bytes", worker.resident_bytes},
          {"restarts", worker.restarts},
          {"uptime_ms", worker.uptime_ms},
          {"last_exit", worker.last_exit},
          {"exit_reason", worker.exit_reason},
          {"last_lines", worker.last_lines},
          {"starts_in_ms", worker.starts_in_ms},
          {"generation", worker.generation}};
}

Json ModelJson(const ModelStatus& model) {
  Json report = {{"name", model.name},
                 {"version", model.version},
                 {"ready", model.ready},
                 {"state", model.state},
                 {"platform", model.platform},
                 {"device", model.device},
                 {"device_note", model.device_note},
                 {"precision", model.precision},
                 {"precision_note", model.precision_note},
                 {"spec", model.spec},
                 {"queued_requests", model.queued_requests},
                 {"running_batches", model.running_batches},
                 {"max_batch_size", model.max_batch_size},
                 {"lanes", model.lanes},
                 {"parameters", model.parameters},
                 {"circuit", model.circuit},
                 {"warning", model.warning},
                 {"quarantined_requests", model.quarantined_requests},
                 {"refused_contents", Json::array()},
                 {"workers", Json::array()}};
  for (const client::RefusedContent& content : model.refused_contents) {
    report["refused_contents"].push_back(
        {{"fingerprint", absl::StrFormat("%016x", content.fingerprint)},
         {"age_ms", content.age_ms}});
  }
  for (const WorkerStatus& worker : model.workers) report["workers"].push_back(WorkerJson(worker));
  return report;
}

std::string DaemonJson(const DaemonStatus& daemon) {
  Json report = {{"server_name", daemon.server_name},
                 {"server_version", daemon.server_version},
                 {"start_time_ms", daemon.start_time_ms},
                 {"ready", daemon.ready},
                 {"models", Json::array()}};
  const client::ReloadStatus& reload = daemon.last_reload;
  if (reload.time_ms > 0) {
    report["last_reload"] = {{"ok", reload.ok}, {"time_ms", reload.time_ms}, {"text", reload.text}};
  }
  for (const ModelStatus& model : daemon.models) report["models"].push_back(ModelJson(model));
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string NextStartText(const WorkerStatus& worker) {
  if (worker.pid > 0) return absl::StrCat("runs as ", worker.pid, ", ", worker.state);
  if (worker.starts_in_ms < 0) return "does not run";
  return absl::StrCat("starts in ", (worker.starts_in_ms + 999) / 1000, "s");
}

std::string WhyWorkerText(const WorkerStatus& worker) {
  std::string text = absl::StrCat("  worker ", worker.index, ": ", NextStartText(worker),
                                  worker.generation.empty() ? "" : " (" + worker.generation + ")",
                                  ", restarts ", worker.restarts);
  if (worker.last_exit.empty()) {
    absl::StrAppend(&text, ", has not ended yet\n");
  } else {
    absl::StrAppend(&text, "\n    last exit: ", worker.last_exit, " [", worker.exit_reason, "]\n");
  }
  if (!worker.last_lines.empty()) absl::StrAppend(&text, "    last lines:\n");
  for (const std::string& line : worker.last_lines) absl::StrAppend(&text, "      ", line, "\n");
  return text;
}

std::string WhyText(const DaemonStatus& daemon) {
  std::string text;
  for (const ModelStatus& model : daemon.models) {
    absl::StrAppend(&text, VersionText(model), ": ", OrDash(model.state), ", circuit ",
                    OrDash(model.circuit), "\n", WarningText(model), QuarantineText(model));
    for (const WorkerStatus& worker : model.workers) text += WhyWorkerText(worker);
  }
  return text;
}

}  // namespace

int RunPs(const PsOptions& options, std::ostream& out, std::ostream& err) {
  const absl::StatusOr<absl::Duration> timeout = ParseTimeout(options.server);
  if (!timeout.ok()) return Fail(err, kExitUsage, timeout.status());
  ExitCode code = kExitOk;
  const auto server = ConnectInferServer(options.server, absl::Now() + *timeout, &code);
  if (!server.ok()) return Fail(err, code, server.status());
  auto daemon = (*server)->GetDaemonStatus(absl::Now() + *timeout);
  if (!daemon.ok()) return Fail(err, kExitServerError, daemon.status());
  if (!options.model.empty()) {
    std::erase_if(daemon->models,
                  [&](const ModelStatus& model) { return model.name != options.model; });
    if (daemon->models.empty()) {
      const std::string text = absl::StrCat("there is no model '", options.model, "'");
      return Fail(err, kExitServerError, absl::NotFoundError(text));
    }
  }
  if (options.server.json) return WriteReport(out, err, DaemonJson(*daemon));
  if (options.why) return WriteReport(out, err, WhyText(*daemon));
  return WriteReport(
      out, err,
      absl::StrCat(HeadText(*daemon, options.server.address), ReloadText(daemon->last_reload), "\n",
                   ModelsText(*daemon, options.server.colours), DeviceNotesText(*daemon), "\n",
                   RemarksText(*daemon), WorkersText(*daemon, options.server.colours)));
}

}  // namespace mpsd::cli
