#include "server/daemon.h"

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "proto/base/platform.h"
#include "server/accept/grpc_server.h"
#include "server/accept/method_table.h"
#include "server/admit/admission.h"
#include "server/config/config_reader.h"
#include "server/config/limit_keys.h"
#include "server/control/model_methods.h"
#include "server/control/model_states.h"
#include "server/control/reflection_methods.h"
#include "server/control/repository_methods.h"
#include "server/control/setting_methods.h"
#include "server/control/shared_memory_methods.h"
#include "server/control/status_methods.h"
#include "server/control/text_methods.h"
#include "server/daemon_options.h"
#include "server/descriptor_needs.h"
#include "server/heap.h"
#include "server/heap_trimmer.h"
#include "server/instance_lock.h"
#include "server/listen/certificate_source.h"
#include "server/listen/open_sockets.h"
#include "server/place/host_survey.h"
#include "server/place/model_factory.h"
#include "server/plane/plane.h"
#include "server/ready_table.h"
#include "server/regions/client_regions.h"
#include "server/regions/device/device_copies.h"
#include "server/reload/reloader.h"
#include "server/reply/answer_step.h"
#include "server/sd_notify.h"
#include "server/start_progress.h"
#include "server/supervise/process/cuda_service.h"
#include "server/supervise/process/local_worker_host.h"
#include "server/supervise/supervisor.h"
#include "server/telemetry/http/http_server.h"
#include "server/telemetry/log/log.h"
#include "server/telemetry/log/request_log.h"
#include "server/telemetry/log/trace_log.h"
#include "server/telemetry/metrics_page.h"

namespace mpsd {
namespace {

// Joins accept/ and dispatch/, which do not know each other: a queue thread looks for completions
// in the plane.
class PlaneCompletions final : public CompletionSource {
 public:
  explicit PlaneCompletions(Plane* plane) : plane_(plane) {}
  size_t Drain() override { return plane_->Drain(); }
  void Wake() override { plane_->Wake(); }
  bool Park() override { return plane_->Park(); }

 private:
  Plane* const plane_;
};

// Tells the HTTP probes how the models are.
class DirectoryHealth final : public HealthSource {
 public:
  explicit DirectoryHealth(const ModelDirectory* models) : models_(models) {}

  bool Live() override { return true; }

  Readiness Ready() override {
    Readiness readiness;
    readiness.ready = models_->IsReady();
    if (readiness.ready) return readiness;
    for (const auto& model : models_->models()) {
      if (!model->ready) readiness.unready_models.push_back(model->name);
    }
    for (const RefusedModel& model : models_->refused()) {
      if (model.wanted) readiness.unready_models.push_back(model.name);
    }
    const bool stopping = models_->stage > ServingStage::kServing;
    const char* const missing = models_->strict ? "not every model is ready" : "no model is ready";
    readiness.reason = stopping ? "the server is stopping" : missing;
    return readiness;
  }

 private:
  const ModelDirectory* const models_;
};

// For a person who has started the daemon by hand, or looks into the service manager's log.
void Say(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

void AddLimits(const LimitsConfig& limits, MetricsPage* page) {
  for (const auto& [name, value] : LimitSeries(limits)) page->AddLimit(name, value);
  page->AddLimit("request_field_bytes", static_cast<double>(kMaxRequestFieldBytes));
  page->AddLimit("tensors", kMaxTensors);
  page->AddLimit("rank", kMaxRank);
  page->AddLimit("batch_rows", kMaxBatchRows);
  page->AddLimit("stream_requests", kMaxStreamRequests);
  page->AddLimit("timeout_seconds", static_cast<double>(kMaxTimeoutNs / kNsPerSecond));
  page->AddLimit("log_lines_per_second", kLogLinesPerSecond);
}

// What clients may see of a path.
std::string FileNameOf(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

// Owns all parts, in the order in which they are made; they end in the opposite order.
class Daemon {
 public:
  Daemon(const Config& config, ConfigSource source, std::unique_ptr<LogFile> log_file,
         std::string worker_binary)
      : config_(config),
        logger_(std::move(log_file), LevelOf(config), clock_, &metrics_),
        page_(&metrics_, {{"version", MPSD_VERSION}, {"grpc", grpc::Version()}}),
        health_(&models_),
        answers_(clock_),
        completions_(&plane_),
        supervisor_(std::make_unique<LocalWorkerHost>(
                        worker_binary, absl::StrCat(config.state_dir, "/workers"), &logger_),
                    config.limits.shared_memory_bytes, &plane_, clock_, &logger_),
        copies_(CopiesOptions(config, worker_binary), &logger_, &metrics_),
        survey_(std::move(worker_binary), config.cuda_mps, &logger_),
        factory_(clock_, &answers_, &supervisor_, &page_, &survey_, config_.limits.message_bytes),
        source_(std::move(source)),
        reloader_({&factory_, &models_, &metrics_, &logger_, [this] { return ReadAgain(); },
                   [this](const Config& fresh) { Apply(fresh); }},
                  config),
        admission_(&models_, clock_),
        regions_({config.limits.client_shared_memory_bytes, config.limits.client_cuda_memory_bytes,
                  config.limits.message_bytes, config.limits.buffered_bytes},
                 SocketsOf, &copies_, &metrics_),
        grpc_(&admission_, &methods_, &completions_, &regions_, &metrics_, &logger_, clock_, &gate_,
              &grpc_refusals_),
        notifier_(ServiceNotifier::FromEnvironment()),
        lame_duck_ns_(config.limits.lame_duck_ns),
        drain_timeout_ns_(config.limits.drain_timeout_ns) {
    gate_.SetRules(RulesOf(config));
    models_.strict = config.strict_readiness;
    page_.AddAccess(&access_metrics_);
    page_.SetModelStates([this] { return ModelStates(models_, supervisor_); });
  }

  ~Daemon() {
    reloader_.Stop();
    copies_.Stop();
    grpc_.Stop(0);
    supervisor_.Stop();
  }

  // Opens the files that the config asks for, other than the log. Called before Run().
  absl::Status OpenFiles();

  int Run(const SignalWaiter& signals);

 private:
  absl::Status StartCudaService();
  absl::Status StartDeviceCopies();
  absl::Status CheckDescriptorLimit();
  void AddMethods();
  absl::Status Listen();
  absl::Status ListenForHttp();
  void Announce();
  void ReopenLog();
  int Serve(const SignalWaiter& signals);
  void ServeUntilAskedToEnd(const SignalWaiter& signals);
  void Reload();
  absl::StatusOr<Config> ReadAgain() const;
  Config UntilRestart(Config config) const;
  void Apply(const Config& config);
  void DrainAndStop(const SignalWaiter& signals);

  const Config& config_;
  const Clock* const clock_ = Clock::Real();
  ServerMetrics metrics_;
  AccessMetrics access_metrics_;
  Logger logger_;
  RefusalLog grpc_refusals_{&access_metrics_, &logger_, clock_};
  RefusalLog http_refusals_{&access_metrics_, &logger_, clock_};
  MetricsPage page_;
  ModelDirectory models_;
  DirectoryHealth health_;
  AnswerStep answers_;
  Plane plane_;
  PlaneCompletions completions_;
  std::unique_ptr<CudaService> cuda_service_;
  Supervisor supervisor_;
  DeviceCopies copies_;  // not started where no client's device memory is taken
  HostSurvey survey_;
  ModelFactory factory_;
  const ConfigSource source_;
  Reloader reloader_;
  Admission admission_;
  MethodTable methods_;
  Gate gate_;
  ClientRegions regions_;
  std::unique_ptr<TraceLog> traces_;      // null: nothing is traced
  std::unique_ptr<RequestLog> requests_;  // null: nothing is logged
  GrpcServer grpc_;
  std::unique_ptr<HttpServer> http_;
  ServiceNotifier notifier_;
  HeapTrimmer heap_{clock_, &logger_};
  std::atomic<int64_t> lame_duck_ns_;
  std::atomic<int64_t> drain_timeout_ns_;
};

absl::Status Daemon::OpenFiles() {
  if (const std::string& path = config_.log.requests; !path.empty()) {
    absl::StatusOr<std::unique_ptr<LogFile>> file = LogFile::Open(path);
    if (!file.ok()) return file.status();
    requests_ = std::make_unique<RequestLog>(*std::move(file), &metrics_);
  }
  const TraceConfig& trace = config_.trace;
  if (trace.file.empty()) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<LogFile>> file = LogFile::Open(trace.file);
  if (!file.ok()) return file.status();
  TraceSettings settings;
  settings.rate = trace.rate;
  const TraceFormat format = trace.otlp ? TraceFormat::kOtlp : TraceFormat::kLines;
  std::random_device seed;
  traces_ = std::make_unique<TraceLog>(*std::move(file), format, settings,
                                       uint64_t{seed()} << 32 | seed(), clock_, &metrics_);
  return absl::OkStatus();
}

void Daemon::AddMethods() {
  if (config_.compat == Compat::kTriton) page_.AddTritonNames();
  AddLimits(config_.limits, &page_);
  const ServerFacts facts{config_.server_name, config_.server_version, traces_ != nullptr,
                          regions_.Takes(RegionKind::kObject), [this] { return copies_.ready(); }};
  AddInferenceMethods(&models_, facts, &methods_);
  AddModelConfigMethod(&models_, &methods_);
  AddStatisticsMethod(&models_, &supervisor_, &methods_);
  AddSettingMethods({&models_, &logger_, traces_.get(), FileNameOf(config_.log.file),
                     FileNameOf(config_.trace.file)},
                    &methods_);
  AddSharedMemoryMethods(&regions_, &methods_);
  AddHealthMethods(&models_, &methods_);
  AddReflectionMethods(ReflectionOf(config_), &methods_);
  AddStatusMethods(&models_, &supervisor_, &reloader_, config_.server_name, &methods_);
  AddForgiveMethod(&models_, &logger_, &methods_);
  AddTextMethods(&models_, &methods_);
  AddRepositoryMethods(&reloader_, &methods_);
}

absl::Status Daemon::Listen() {
  GrpcServerOptions options = GrpcOptions(config_);
  options.observers = {traces_.get(), requests_.get()};
  const TlsConfig& tls = config_.listen.tls;
  if (!tls.grpc.empty()) {
    auto certificates = CertificateSource::Open({tls.certificate, tls.key, tls.client_ca},
                                                &access_metrics_, &logger_);
    if (!certificates.ok()) return certificates.status();
    options.certificates = *std::move(certificates);
  }
  if (absl::Status status = grpc_.Start(options); !status.ok()) return status;
  page_.OnCollect([this] {
    metrics_.connections = grpc_.connection_count();
    metrics_.unread_copy_bytes = static_cast<int64_t>(grpc_.unread_copy_bytes());
    metrics_.inflated_request_bytes = static_cast<int64_t>(grpc_.inflated_bytes());
  });
  return ListenForHttp();
}

absl::Status Daemon::ListenForHttp() {
  if (config_.listen.http.empty()) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<HttpServer>> http =
      HttpServer::Start(config_.listen.http, &page_, &health_, {&gate_, &http_refusals_});
  if (http.ok()) http_ = *std::move(http);
  return http.status();
}

void Daemon::Announce() {
  ReadyTableFacts facts;
  const absl::StatusOr<std::string> program = platform::ExecutablePath();
  std::error_code error;
  if (program.ok()) {
    const std::string from_here = std::filesystem::proximate(*program, error).string();
    facts.program = from_here.size() < program->size() ? from_here : *program;
  }
  facts.grpc = grpc_.bound();
  facts.plain_count = config_.listen.grpc.size();
  if (http_ != nullptr) {
    const std::string& address = config_.listen.http;
    facts.http = absl::StrCat(address.substr(0, address.rfind(':')), ":", http_->port());
  }
  Say(ReadyTable(facts, models_, supervisor_));
  notifier_.Ready("serving").IgnoreError();
}

// A log rotator renames the file and then sends SIGUSR1. On an error the old file stays in use.
void Daemon::ReopenLog() {
  absl::Status status = logger_.Reopen();
  if (traces_ != nullptr) status.Update(traces_->Reopen());
  if (requests_ != nullptr) status.Update(requests_->Reopen());
  const std::string text(status.message());
  logger_.Log(status.ok() ? LogLevel::kInfo : LogLevel::kError, "log_reopened", {{"error", text}});
}

int Daemon::Run(const SignalWaiter& signals) {
  signals.OnReopen([this] { ReopenLog(); });
  const int code = Serve(signals);
  signals.OnReopen(nullptr);
  return code;
}

// Called before the first worker starts, since workers are its clients.
absl::Status Daemon::StartCudaService() {
  if (!config_.cuda_mps) return absl::OkStatus();
  CudaServiceOptions options;
  options.folder = CudaServiceFolder(config_);
  absl::StatusOr<std::unique_ptr<CudaService>> service =
      CudaService::Start(std::move(options), &logger_);
  if (service.ok()) cuda_service_ = *std::move(service);
  return service.status();
}

absl::Status Daemon::StartDeviceCopies() {
  if (!regions_.Takes(RegionKind::kDevice)) return absl::OkStatus();
  const std::string& copier = copies_.binary();
  if (access(copier.c_str(), X_OK) == 0) return copies_.Start();
  return absl::NotFoundError(
      absl::StrCat("there is no ", copier, ", which limits.client_cuda_memory needs"));
}

// Called once the models are placed and before their workers start.
absl::Status Daemon::CheckDescriptorLimit() {
  DescriptorNeeds needs;
  needs.connections = config_.limits.connections;
  for (const std::shared_ptr<ServedModel>& model : models_.models()) {
    ++needs.models;
    needs.workers += model->facts.processes;
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return absl::OkStatus();
  const std::string warning = DescriptorWarning(needs, limit.rlim_cur);
  if (!warning.empty()) logger_.Log(LogLevel::kWarn, "few_descriptors", {{"reason", warning}});
  return CheckDescriptors(needs, limit.rlim_cur);
}

int Daemon::Serve(const SignalWaiter& signals) {
  absl::Status started = StartCudaService();
  if (started.ok()) started = StartDeviceCopies();
  if (started.ok()) {
    reloader_.Deploy();
    started = CheckDescriptorLimit();
  }
  if (!started.ok()) {
    std::fprintf(stderr, "mpsd: %s\n", std::string(started.message()).c_str());
    return kExitConfig;
  }
  AddMethods();
  if (absl::Status status = Listen(); !status.ok()) {
    std::fprintf(stderr, "mpsd: %s\n", std::string(status.message()).c_str());
    return absl::IsInvalidArgument(status) ? kExitConfig : kExitCannotListen;
  }
  models_.stage = ServingStage::kServing;
  absl::Status status = supervisor_.Start();
  if (status.ok()) {
    StartProgress progress(models_.models().size(), clock_->NowNs());
    status = supervisor_.WaitUntilSettled([&] {
      Say(progress.LineAt(clock_->NowNs(), supervisor_.Unsettled()));
      return signals.requests() > 0;
    });
  }
  if (!status.ok()) {
    std::fprintf(stderr, "mpsd: %s\n", std::string(status.message()).c_str());
    DrainAndStop(signals);
    return kExitConfig;
  }
  if (signals.requests() == 0) Announce();
  ServeUntilAskedToEnd(signals);
  DrainAndStop(signals);
  return kExitOk;
}

void Daemon::ServeUntilAskedToEnd(const SignalWaiter& signals) {
  reloader_.Start();
  for (int seen = 0; signals.requests() == 0;) {
    signals.WaitForNews(seen, absl::Nanoseconds(HeapTrimmer::kLookNs));
    heap_.Look(plane_.inside());
    if (signals.hangups() == seen) continue;
    seen = signals.hangups();
    Reload();
  }
}

void Daemon::Reload() {
  notifier_.Reloading(*clock_).IgnoreError();
  reloader_.Reload([this](const absl::Status& status) {
    notifier_.Ready(status.ok() ? "serving" : "serving; the last reload failed").IgnoreError();
  });
}

// The config as it is in force until a restart: the addresses stay as they were at the start, and
// the rules of access are judged by them.
Config Daemon::UntilRestart(Config config) const {
  config.listen = config_.listen;
  return config;
}

absl::StatusOr<Config> Daemon::ReadAgain() const {
  absl::StatusOr<Config> fresh = source_();
  if (!fresh.ok()) return fresh.status();
  JsonErrors errors;
  CheckWhoGetsIn(UntilRestart(*fresh), &errors);
  if (errors.empty()) return fresh;
  return absl::FailedPreconditionError(
      absl::StrCat("what is listened on changes with a restart only, and until then: ",
                   errors.ToStatus().message()));
}

void Daemon::Apply(const Config& config) {
  logger_.Set(LogSwitches::Of(LevelOf(config)));
  gate_.SetRules(RulesOf(UntilRestart(config)));
  lame_duck_ns_ = config.limits.lame_duck_ns;
  drain_timeout_ns_ = config.limits.drain_timeout_ns;
  models_.strict = config.strict_readiness;
}

// Is not ready at once; waits until what is inside has ended; ends the server and then the workers.
void Daemon::DrainAndStop(const SignalWaiter& signals) {
  const bool lame_duck = signals.requests() == 1 && lame_duck_ns_ > 0;
  models_.stage = lame_duck ? ServingStage::kLameDuck : ServingStage::kExiting;
  notifier_.Stopping("draining").IgnoreError();
  reloader_.Stop();
  logger_.Log(LogLevel::kInfo, "draining", {{"inside", plane_.inside()}});
  if (lame_duck) signals.WaitFor(2, absl::Nanoseconds(lame_duck_ns_.load()));
  models_.stage = ServingStage::kExiting;
  const int64_t until_ns = clock_->NowNs() + drain_timeout_ns_.load();
  while ((plane_.inside() > 0 || copies_.pending() > 0) && clock_->NowNs() < until_ns) {
    if (signals.WaitFor(2, absl::Milliseconds(5))) break;
  }
  plane_.FailAll("Server exiting");
  copies_.Stop();
  const bool hurry = signals.requests() > 1;
  grpc_.Stop(hurry ? 0 : std::max<int64_t>(kNsPerSecond, until_ns - clock_->NowNs()));
  supervisor_.Stop();
  logger_.Log(LogLevel::kInfo, "stopped");
}

absl::StatusOr<std::string> WorkerBinary() {
  absl::StatusOr<std::string> program = platform::ExecutablePath();
  if (!program.ok()) return program.status();
  const std::string worker =
      (std::filesystem::path(*program).parent_path() / "mpsd-worker").string();
  if (access(worker.c_str(), X_OK) != 0) {
    return absl::NotFoundError(absl::StrCat("there is no ", worker, " to run models with"));
  }
  return worker;
}

void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

int Complain(const absl::Status& status, int exit_code) {
  std::fprintf(stderr, "mpsd: %s\n", std::string(status.message()).c_str());
  return exit_code;
}

}  // namespace

int RunDaemon(const Config& config, ConfigSource source, const SignalWaiter& signals) {
  platform::HideMemory();
  ShareHeap();
  absl::StatusOr<InstanceLock> lock = InstanceLock::Take(config.state_dir);
  if (!lock.ok()) {
    return Complain(lock.status(),
                    absl::IsAlreadyExists(lock.status()) ? kExitRunsAlready : kExitConfig);
  }
  absl::StatusOr<std::string> worker = WorkerBinary();
  if (!worker.ok()) return Complain(worker.status(), kExitConfig);
  absl::StatusOr<std::unique_ptr<LogFile>> log_file = LogFile::Open(config.log.file);
  if (!log_file.ok()) return Complain(log_file.status(), kExitConfig);
  RaiseDescriptorLimit();
  if (config.cuda_mps) CudaService::SetEnvironment(CudaServiceFolder(config));
  Daemon daemon(config, std::move(source), *std::move(log_file), *std::move(worker));
  if (absl::Status opened = daemon.OpenFiles(); !opened.ok()) return Complain(opened, kExitConfig);
  return daemon.Run(signals);
}

}  // namespace mpsd
