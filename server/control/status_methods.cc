#include "server/control/status_methods.h"

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/base/clock.h"
#include "proto/base/utf8.h"
#include "proto/control.pb.h"
#include "server/control/model_states.h"

namespace mpsd {
namespace {

namespace control_pb = mpsd::control::v1;

void Describe(const WorkerInfo& info, control_pb::WorkerStatus* status) {
  status->set_index(info.index);
  status->set_pid(info.pid);
  status->set_epoch(info.epoch);
  status->set_state(info.state);
  status->set_lanes(info.lanes);
  status->set_device(info.device);
  status->set_runtime(info.runtime.name);
  status->set_runtime_kind(info.runtime.kind);
  status->set_runtime_path(info.runtime.path);
  status->set_driver_guard(NameOf(info.runtime.driver_guard));
  status->set_input_memory(NameOf(info.runtime.input_memory));
  status->set_resident_bytes(info.resident_bytes);
  status->set_slowness(info.slowness);
  status->set_restarts(info.restarts);
  status->set_uptime_ms(info.uptime_ms);
  status->set_last_exit(info.last_exit);
  status->set_exit_reason(info.exit_reason);
  for (const std::string& line : info.last_lines) {
    status->add_last_lines(line);
  }
  if (info.starts_in_ms >= 0) status->set_starts_in_ms(info.starts_in_ms);
}

std::string StateText(const ServedModel& model, const std::vector<WorkerInfo>& workers,
                      const std::vector<OtherGeneration>& others) {
  std::string why;
  std::string state = kModelStateNames[static_cast<size_t>(StateOf(model, workers, &why))];
  if (!why.empty()) absl::StrAppend(&state, ": ", why);
  if (model.IsReady() && !others.empty()) {
    absl::StrAppend(&state, ", another one ", others.front().state);
  }
  return state;
}

void Describe(const RefusedModel& model, control_pb::ModelStatus* status) {
  // Folder names may be any bytes.
  status->set_name(WithoutBadBytes(model.name));
  status->set_version(WithoutBadBytes(model.version));
  const char* const state = model.is_fetched ? "loading: " : "refused: ";
  status->set_state(absl::StrCat(state, WithoutBadBytes(model.reason)));
}

void Describe(const InferenceStatistics::Totals& totals, control_pb::ModelCounts* counts) {
  counts->set_answered_requests(totals.success.count);
  counts->set_failed_requests(totals.fail.count);
  counts->set_answered_rows(totals.inference_count);
  counts->set_batches(totals.execution_count);
  counts->set_total_ns(totals.success.ns);
  counts->set_queue_ns(totals.queue.ns);
  counts->set_infer_ns(totals.compute_infer.ns);
}

std::string TextsOf(const ServedModel& model) {
  if (model.texts.ok()) return "taken";
  return absl::IsUnimplemented(model.texts.status())
             ? ""
             : WithoutBadBytes(model.texts.status().message());
}

void DescribeQuarantine(const ServedModel& model, control_pb::ModelStatus* status) {
  status->set_quarantined_requests(model.metrics.quarantined_requests);
  if (model.pool == nullptr) return;
  for (const RefusedContent& content : model.pool->RefusedContents()) {
    control_pb::RefusedContent* refused = status->add_refused_contents();
    refused->set_fingerprint(content.fingerprint);
    refused->set_age_ms(content.age_ns / kNsPerMs);
  }
}

void Describe(const ServedModel& model, const WorkerStatusSource& source,
              control_pb::ModelStatus* status) {
  const std::vector<WorkerInfo> workers = source.Workers(model);
  const std::vector<OtherGeneration> others = source.Others(model);
  status->set_name(model.name);
  status->set_version(model.version);
  status->set_ready(model.IsReady());
  status->set_state(StateText(model, workers, others));
  status->set_device(DevicesOf(workers));
  status->set_device_note(model.facts.device_note);
  status->set_circuit(source.Circuit(model));
  status->set_platform(model.platform);
  status->set_queued_requests(model.metrics.queued_requests);
  status->set_running_batches(model.metrics.running_batches);
  DescribeQuarantine(model, status);
  Describe(model.metrics.inference.Read(), status->mutable_counts());
  status->set_texts(TextsOf(model));
  for (const auto& [name, value] : model.parameters) (*status->mutable_parameters())[name] = value;
  uint32_t lanes = 0;
  for (const WorkerInfo& worker : workers) {
    lanes += worker.lanes;
    if (!worker.warning.empty()) status->set_warning(worker.warning);
    Describe(worker, status->add_workers());
  }
  for (const OtherGeneration& other : others) {
    for (const WorkerInfo& worker : other.workers) {
      Describe(worker, status->add_workers());
      status->mutable_workers()->rbegin()->set_generation(other.state);
    }
  }
  status->set_lanes(lanes);
  if (!model.loaded) return;
  const ModelSpec& spec = model.spec;
  if (model.members == nullptr) status->set_precision(NameOf(model.precision));
  status->set_precision_note(model.precision_note);
  status->set_max_batch_size(spec.max_batch_size);
  status->set_spec(SpecText(spec));
}

void Describe(const ReloadReport& report, control_pb::ReloadStatus* status) {
  status->set_ok(report.ok);
  status->set_time_ms(report.time_ms);
  status->set_text(WithoutBadBytes(report.text));
}

void Describe(const StatusFacts& facts, control_pb::StatusReply* reply) {
  reply->set_server_name(facts.server_name);
  reply->set_server_version(MPSD_VERSION);
  for (const auto& [name, value] : facts.limits) {
    control_pb::Limit* const limit = reply->add_limits();
    limit->set_name(name);
    limit->set_value(value);
  }
  for (const std::string& warning : facts.warnings) {
    reply->add_warnings(WithoutBadBytes(warning));
  }
}

absl::Status CheckLocal(const CallerInfo& caller) {
  if (caller.IsLocal()) return absl::OkStatus();
  return absl::PermissionDeniedError("control calls are for callers on this host");
}

absl::Status Forgive(const ModelDirectory& models, const std::string& name, Logger* logger,
                     control_pb::ForgiveReply* reply) {
  if (const auto found = FindServed(models, name, ""); !found.ok()) return found.status();
  size_t contents = 0;
  for (const std::shared_ptr<ServedModel>& model : models.models()) {
    if (model->name == name && model->pool != nullptr) contents += model->pool->ForgiveContents();
  }
  logger->Log(LogLevel::kInfo, "contents_forgiven", {{"model", name}, {"contents", contents}});
  reply->set_contents(static_cast<uint32_t>(contents));
  return absl::OkStatus();
}

}  // namespace

void AddForgiveMethod(const ModelDirectory* models, Logger* logger, MethodTable* table) {
  table->AddTyped<control_pb::ForgiveRequest, control_pb::ForgiveReply>(
      "/mpsd.control.v1.Control/Forgive", MethodTable::Kind::kUnary,
      [=](const CallerInfo& caller, const auto& request, auto* reply) {
        const absl::Status local = CheckLocal(caller);
        return local.ok() ? Forgive(*models, request.model_name(), logger, reply) : local;
      });
}

void AddStatusMethods(const ModelDirectory* models, const WorkerStatusSource* workers,
                      const ModelControl* control, const StatusFacts& facts, const Clock* clock,
                      MethodTable* table) {
  const int64_t start_time_ms = absl::ToUnixMillis(absl::Now());
  const int64_t start_ns = clock->NowNs();
  table->AddTyped<control_pb::StatusRequest, control_pb::StatusReply>(
      "/mpsd.control.v1.Control/Status", MethodTable::Kind::kUnary,
      [=](const CallerInfo& caller, const auto&, auto* reply) {
        if (absl::Status local = CheckLocal(caller); !local.ok()) return local;
        Describe(facts, reply);
        reply->set_start_time_ms(start_time_ms);
        reply->set_uptime_ms((clock->NowNs() - start_ns) / kNsPerMs);
        reply->set_ready(models->IsReady());
        Describe(control->LastReload(), reply->mutable_last_reload());
        for (const auto& model : models->models()) {
          Describe(*model, *workers, reply->add_models());
        }
        for (const RefusedModel& model : models->refused()) Describe(model, reply->add_models());
        return absl::OkStatus();
      });
}

}  // namespace mpsd
