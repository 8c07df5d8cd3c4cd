#include "server/daemon.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "proto/base/clock.h"
#include "proto/base/colour.h"
#include "proto/base/descriptor_limit.h"
#include "proto/base/limits.h"
#include "proto/base/platform.h"
#include "proto/base/units.h"
#include "proto/link/worker_program.h"
#include "server/admit/admission.h"
#include "server/bodies/text_routes/usual_model.h"
#include "server/cache/response_cache.h"
#include "server/compose/sequences/sequence_context.h"
#include "server/compose/steps/step_context.h"
#include "server/config/config_reader.h"
#include "server/config/config_warnings.h"
#include "server/config/limit_keys.h"
#include "server/control/model_methods.h"
#include "server/control/model_states.h"
#include "server/control/reflection_methods.h"
#include "server/control/repository_methods.h"
#include "server/control/setting_methods.h"
#include "server/control/status_methods.h"
#include "server/daemon_options.h"
#include "server/door/door_bounds.h"
#include "server/door/http_door.h"
#include "server/door/http_gate.h"
#include "server/heap.h"
#include "server/heap_trimmer.h"
#include "server/http/calls/method_table.h"
#include "server/http/connections/certificate_source.h"
#include "server/http/http_server.h"
#include "server/keep_awake.h"
#include "server/lasting_fault.h"
#include "server/memory_room.h"
#include "server/memory_watch.h"
#include "server/models/host_survey.h"
#include "server/models/model_factory.h"
#include "server/models/reload/hub_puller.h"
#include "server/models/reload/reloader.h"
#include "server/operate/doctor/descriptor_needs.h"
#include "server/operate/handover/handover.h"
#include "server/operate/handover/handover_outcome.h"
#include "server/operate/handover/instance_lock.h"
#include "server/pool/plane/plane.h"
#include "server/pool/reply/answer_step.h"
#include "server/pool/resources/resource_table.h"
#include "server/ready_table.h"
#include "server/regions/client_regions.h"
#include "server/regions/device/device_copies.h"
#include "server/sd_notify.h"
#include "server/start_progress.h"
#include "server/supervise/process/cuda_service.h"
#include "server/supervise/process/folder_remover.h"
#include "server/supervise/process/local_worker_host.h"
#include "server/supervise/supervisor.h"
#include "server/telemetry/collector/collector_call.h"
#include "server/telemetry/collector/metrics_exporter.h"
#include "server/telemetry/collector/span_exporter.h"
#include "server/telemetry/gpu_watch.h"
#include "server/telemetry/http/health_source.h"
#include "server/telemetry/load_sampler.h"
#include "server/telemetry/log/log.h"
#include "server/telemetry/log/request_log.h"
#include "server/telemetry/log/trace_log.h"
#include "server/telemetry/metrics_page.h"
#include "server/telemetry/process_stats.h"

namespace mpsd {
namespace {

// A door's thread looks for completions in the plane; http/ and pool/ do not know each other.
class PlaneCompletions final : public CompletionSource {
 public:
  explicit PlaneCompletions(Plane* plane) : plane_(plane) {}
  size_t Drain() override { return plane_->Drain(); }
  void Wake() override { plane_->Wake(); }
  bool Park(platform::Poller* ear) override { return plane_->ParkAndHear(ear); }
  bool CoresAreLeft() const override { return plane_->cores_are_left(); }
  void ClearBells() override { plane_->bells().Clear(); }
  void Leave(platform::Poller* ear) override { plane_->bells().Leave(ear); }

 private:
  Plane* const plane_;
};

class DirectoryHealth final : public HealthSource {
 public:
  explicit DirectoryHealth(const ModelDirectory* models) : models_(models) {}

  bool Live() override { return true; }

  Readiness Ready() override {
    Readiness readiness;
    readiness.ready = models_->IsReady();
    if (readiness.ready) return readiness;
    for (const auto& model : models_->models()) {
      if (!model->IsReady()) readiness.unready_models.push_back(model->name);
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

constexpr int64_t kSuccessorLookNs = 50 * kNsPerMs;

// For a person who started the daemon by hand, or reads the service manager's log.
void Say(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

// For /metrics and the status.
std::vector<std::pair<std::string, double>> LimitsInForce(const LimitsConfig& config) {
  std::vector<std::pair<std::string, double>> limits = LimitSeries(config);
  limits.emplace_back("request_field_bytes", kMaxRequestFieldBytes);
  limits.emplace_back("tensors", kMaxTensors);
  limits.emplace_back("rank", kMaxRank);
  limits.emplace_back("batch_rows", kMaxBatchRows);
  limits.emplace_back("stream_requests", kMaxStreamRequests);
  limits.emplace_back("timeout_seconds", kMaxTimeoutNs / kNsPerSecond);
  limits.emplace_back("log_lines_per_second", kLogLinesPerSecond);
  return limits;
}

HostSample SampleHost(const ModelDirectory& models, const WorkerStatusSource& workers) {
  HostSample host;
  host.cores = platform::UsableCores();
  host.available_bytes = platform::AvailableMemoryBytes();
  const ProcessStats own = ReadProcessStats();
  host.cpu_seconds = own.cpu_seconds;
  host.used_bytes = own.resident_bytes;
  for (const ModelStateSample& model : ModelStates(models, workers)) {
    for (const RuntimeSample& worker : model.runtimes) {
      host.cpu_seconds += worker.cpu_seconds;
      host.used_bytes += worker.resident_bytes;
    }
  }
  return host;
}

// By these, collectors know this daemon.
OtlpAttributes ResourceOfHost() {
  char host[256] = {};
  gethostname(host, sizeof(host) - 1);
  // Tells two daemons of a host apart.
  return {{"service.name", "mpsd"},
          {"service.version", MPSD_VERSION},
          {"service.instance.id", absl::StrCat(host, ":", getpid())},
          {"host.name", host}};
}

// The part that clients may see.
std::string FileNameOf(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

// Names in the state folder. An old daemon's workers still run in one, so a daemon that takes over
// uses the other.
constexpr const char* kWorkerFolders[] = {"workers", "workers.other"};

// Taken before the parts are made. Outlives the daemon.
struct DaemonHold {
  InstanceLock lock;
  std::optional<Predecessor> predecessor;  // only if this daemon takes over

  const char* worker_folder() const { return kWorkerFolders[is_first_taken() ? 1 : 0]; }
  const char* successors_worker_folder() const { return kWorkerFolders[is_first_taken() ? 0 : 1]; }
  bool is_first_taken() const {
    return predecessor.has_value() && predecessor->worker_folder() == kWorkerFolders[0];
  }
};

// Owns all parts, in the order in which they are made; they end in reverse.
class Daemon {
 public:
  Daemon(const Config& config, ConfigSource source, const DaemonHold* hold,
         std::unique_ptr<LogFile> log_file, std::string worker_binary)
      : config_(config),
        hold_(hold),
        limits_(LimitsWithin(config.limits, platform::AvailableMemoryBytes())),
        logger_(std::move(log_file), LevelOf(config), clock_, &metrics_),
        page_(&metrics_, {{"version", MPSD_VERSION}}),
        kept_answers_(config.limits.response_cache_bytes),
        resources_(config.resources, config.device_share),
        sequences_(clock_, config.limits.sequence_state_bytes),
        health_(&models_),
        answers_(clock_),
        plane_(clock_),
        completions_(&plane_),
        supervisor_(std::make_unique<LocalWorkerHost>(
                        worker_binary, absl::StrCat(config.state_dir, "/", hold->worker_folder()),
                        &logger_),
                    {config.limits.shared_memory_bytes, ClientsMemoryBytes(limits_)}, &plane_,
                    clock_, &logger_),
        copies_(CopiesOptions(config, worker_binary), &logger_, &metrics_),
        survey_(std::move(worker_binary), config.cuda_mps, &logger_),
        admission_(&models_, clock_, &texts_, gate_.rates(),
                   {config.limits.text_bytes, config.limits.text_tokens}),
        steps_(&admission_, &models_, &metrics_, clock_, config.limits.step_tensor_bytes),
        factory_({clock_, &answers_, &kept_answers_, &resources_, &steps_, &sequences_,
                  &supervisor_, &page_, &survey_, limits_.message_bytes}),
        source_(std::move(source)),
        reloader_({&factory_, &models_, &metrics_, &logger_, [this] { return ReadAgain(); },
                   [this](const Config& fresh) { Apply(fresh); }, &puller_},
                  config),
        regions_({config.limits.client_shared_memory_bytes, config.limits.client_cuda_memory_bytes,
                  limits_.message_bytes, limits_.buffered_bytes},
                 &copies_, &metrics_),
        bounds_(
            {limits_.calls, limits_.unread_copy_bytes, limits_.message_bytes,
             limits_.buffered_bytes},
            [this](const std::string& peer) { http_.CutReader(peer); }, &metrics_),
        http_([this](const ThreadRole* thread) { return MakeDoor(thread); }, &completions_,
              &metrics_, clock_),
        notifier_(ServiceNotifier::FromEnvironment()),
        lame_duck_ns_(config.limits.lame_duck_ns),
        drain_timeout_ns_(config.limits.drain_timeout_ns) {
    gate_.SetRules(RulesOf(config));
    models_.strict = config.strict_readiness;
    page_.AddAccess(&access_metrics_);
    page_.SetGpus(&gpus_);
    page_.SetModelStates([this] { return ModelStates(models_, supervisor_); });
    load_.SetHost([this] { return SampleHost(models_, supervisor_); });
    page_.SetResources([this] { return resources_.Samples(); });
    page_.SetPulls([this] { return puller_.Samples(); });
  }

  ~Daemon() {
    metrics_exporter_ = nullptr;
    puller_.Stop();
    reloader_.Stop();
    copies_.Stop();
    http_.Stop(0);
    supervisor_.Stop();
  }

  // The config's, other than the log. Called before Run().
  absl::Status OpenFiles();

  int Run(const SignalWaiter& signals);

 private:
  absl::Status OpenTraces(const TraceConfig& trace);
  void SendMetrics();
  absl::Status StartCudaService();
  absl::Status StartDeviceCopies();
  absl::Status CheckDescriptorLimit();
  void WarnOfFileSizeLimit();
  void WarnOfLittleMemory();
  void WarnOfHost(std::string_view event, const std::string& reason);
  void AddMethods();
  absl::Status Listen();
  std::unique_ptr<HttpHandler> MakeDoor(const ThreadRole* thread);
  void Announce();
  void TellUsualModels();
  void ReopenLog();
  int Complain(const absl::Status& status, int exit_code) const;
  int Serve(const SignalWaiter& signals);
  absl::Status WaitUntilSettled(const SignalWaiter& signals);
  void ServeUntilAskedToEnd(const SignalWaiter& signals);
  absl::Status TakeOver(const SignalWaiter& signals);
  bool HasLostPredecessor() const;
  void BeginHandover();
  void Note(const absl::Status& outcome);
  absl::Status CheckHandover() const;
  absl::Status StartSuccessor();
  bool HasHandedOver();
  void EndSuccessor();
  void LeaveToSuccessor(const SignalWaiter& signals);
  void Reload();
  void StartPuller();
  absl::StatusOr<Config> ReadAgain() const;
  Config UntilRestart(Config config) const;
  void Apply(const Config& config);
  void DrainAndStop(const SignalWaiter& signals);

  const Config& config_;
  const DaemonHold* const hold_;
  const LimitsConfig limits_;  // as far as the memory allows
  const Clock* const clock_ = Clock::Real();
  ServerMetrics metrics_;
  AccessMetrics access_metrics_;
  Logger logger_;
  RefusalLog refusals_{&access_metrics_, &logger_, clock_};
  MetricsPage page_;
  GpuWatch gpus_;
  LoadSampler load_{&page_, clock_};
  ResponseCache kept_answers_;
  ResourceTable resources_;
  SequenceContext sequences_;  // outlives the models' sequences
  ModelDirectory models_;
  DirectoryHealth health_;
  AnswerStep answers_;
  Plane plane_;
  PlaneCompletions completions_;
  std::unique_ptr<CudaService> cuda_service_;
  Supervisor supervisor_;
  DeviceCopies copies_;  // started only if clients' device memory is accepted
  HostSurvey survey_;
  TaskThreads texts_;
  Gate gate_;
  Admission admission_;
  StepContext steps_;
  ModelFactory factory_;
  const ConfigSource source_;
  HubPuller puller_{&metrics_, &logger_};
  Reloader reloader_;
  MethodTable methods_;
  ClientRegions regions_;
  std::unique_ptr<CollectorCall> collector_;  // null: no exporter either
  std::unique_ptr<SpanExporter> spans_;
  std::unique_ptr<TraceLog> traces_;      // null: no traces
  std::unique_ptr<RequestLog> requests_;  // null: no request log
  DoorBounds bounds_;
  HttpGate http_gate_{&gate_, &refusals_};
  HttpServer http_;
  ServiceNotifier notifier_;
  HeapTrimmer heap_{clock_, &logger_};
  KeepAwake keep_awake_{config_.keep_awake ? AwakeAssertion::OfHost() : nullptr, clock_, &logger_};
  MemoryWatch memory_{config_.memory_pressure ? PressureSource::OfHost() : nullptr,
                      [this](MemoryPressure level) { supervisor_.SetMemoryPressure(level); },
                      &metrics_, &logger_};
  // Set by CheckDescriptorLimit().
  DescriptorNeeds needs_;
  uint64_t descriptors_ = UINT64_MAX;
  std::vector<std::string> host_warnings_;            // for the status
  std::unique_ptr<Successor> successor_;              // while it starts, and once it is ready
  std::unique_ptr<CollectorCall> metrics_collector_;  // null: no figures are sent
  std::unique_ptr<MetricsExporter> metrics_exporter_;
  std::atomic<int64_t> lame_duck_ns_;
  std::atomic<int64_t> drain_timeout_ns_;
};

absl::Status Daemon::OpenFiles() {
  if (const std::string& path = config_.log.requests; !path.empty()) {
    absl::StatusOr<std::unique_ptr<LogFile>> file = LogFile::Open(path);
    if (!file.ok()) return file.status();
    requests_ = std::make_unique<RequestLog>(*std::move(file), &metrics_);
  }
  return OpenTraces(config_.trace);
}

absl::Status Daemon::OpenTraces(const TraceConfig& trace) {
  absl::StatusOr<std::unique_ptr<LogFile>> file = nullptr;
  if (!trace.file.empty()) file = LogFile::Open(trace.file);
  if (!file.ok()) return file.status();
  if (!trace.collector.empty()) {
    collector_ = std::make_unique<CollectorCall>(trace.collector, OtlpSignal::kTraces);
    SpanExporterOptions options;
    options.resource = ResourceOfHost();
    spans_ =
        std::make_unique<SpanExporter>(collector_.get(), std::move(options), &logger_, &metrics_);
  }
  if (*file == nullptr && spans_ == nullptr) return absl::OkStatus();
  TraceSettings settings;
  settings.rate = trace.rate;
  TraceTarget target{*std::move(file), trace.otlp ? TraceFormat::kOtlp : TraceFormat::kLines,
                     spans_.get()};
  std::random_device seed;
  traces_ = std::make_unique<TraceLog>(std::move(target), settings, uint64_t{seed()} << 32 | seed(),
                                       clock_, &metrics_);
  steps_.observers.traces = traces_.get();
  page_.SetExemplars(&traces_->exemplars());
  return absl::OkStatus();
}

// Called once the page has all its sources.
void Daemon::SendMetrics() {
  if (config_.trace.metrics_interval_ns == 0) return;
  metrics_collector_ =
      std::make_unique<CollectorCall>(config_.trace.collector, OtlpSignal::kMetrics);
  MetricsExporterOptions options;
  options.resource = ResourceOfHost();
  options.interval_ns = config_.trace.metrics_interval_ns;
  metrics_exporter_ = std::make_unique<MetricsExporter>(&page_, metrics_collector_.get(),
                                                        std::move(options), &logger_);
}

void Daemon::AddMethods() {
  if (config_.compat == Compat::kTriton) page_.AddTritonNames();
  StatusFacts status{config_.server_name, LimitsInForce(limits_), ConfigWarnings(config_)};
  for (const std::string& warning : host_warnings_) status.warnings.push_back(warning);
  for (const auto& [name, value] : status.limits) page_.AddLimit(name, value);
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
  AddStatusMethods(&models_, &supervisor_, &reloader_, status, clock_, &methods_);
  AddLoadMethods(&load_, &methods_);
  AddForgiveMethod(&models_, &logger_, &methods_);
  AddRepositoryMethods(&reloader_, &methods_);
}

absl::Status Daemon::Listen() {
  HttpServerOptions options = HttpOptions(config_, limits_);
  const TlsConfig& tls = config_.listen.tls;
  if (!tls.certificate.empty()) {
    auto certificates = CertificateSource::Open({tls.certificate, tls.key, tls.client_ca},
                                                &access_metrics_, &logger_);
    if (!certificates.ok()) return certificates.status();
    options.certificates = *std::move(certificates);
  }
  for (HttpGroup& group : options.groups) {
    group.connections = ConnectionsThatFit(group.connections, needs_, descriptors_);
  }
  options.logger = &logger_;
  if (hold_->predecessor.has_value()) options.inherited = hold_->predecessor->sockets();
  texts_.Start("texts", options.threads);
  bounds_.inflaters.Start("inflate", options.threads);
  page_.OnCollect([this] {
    metrics_.connections =
        http_.connection_count(kGrpcGroup) + http_.connection_count(kControlGroup);
    metrics_.http_connections = http_.connection_count(kHttpGroup);
    metrics_.unread_copy_bytes = static_cast<int64_t>(bounds_.unread.taken_bytes());
    metrics_.inflated_request_bytes = static_cast<int64_t>(bounds_.inflated.taken_bytes());
    metrics_.http_body_bytes = static_cast<int64_t>(http_.body_bytes());
    const ResponseCache::Usage kept = kept_answers_.usage();
    metrics_.kept_answers = static_cast<int64_t>(kept.answers);
    metrics_.kept_answer_bytes = static_cast<int64_t>(kept.bytes);
    metrics_.evicted_answers = kept.evicted;
    metrics_.step_requests = steps_.inside.load();
    metrics_.sequence_state_bytes = static_cast<int64_t>(sequences_.states.taken_bytes());
    metrics_.step_copy_bytes = static_cast<int64_t>(steps_.copies.taken_bytes());
  });
  // From here on clients may ask for the page.
  return http_.Start(options);
}

std::unique_ptr<HttpHandler> Daemon::MakeDoor(const ThreadRole* thread) {
  DoorContext context;
  context.exchange = {&admission_, &metrics_, clock_,
                      &regions_,   thread,    {traces_.get(), requests_.get()}};
  context.models = &models_;
  context.methods = &methods_;
  context.gate = &http_gate_;
  context.open_infer_calls = &bounds_.infer_calls;
  context.open_stream_calls = &bounds_.stream_calls;
  context.open_other_calls = &bounds_.other_calls;
  context.unread = &bounds_.unread;
  if (config_.limits.compressed_requests) context.inflaters = &bounds_.inflaters;
  context.inflate_bounds = bounds_.inflate_bounds;
  context.page = &page_;
  context.load = &load_;
  context.health = &health_;
  context.message_bytes = limits_.message_bytes;
  context.json_bytes = config_.limits.http_json_bytes;
  context.text_rows = config_.limits.texts;
  context.text_tokens = config_.limits.text_tokens;
  context.default_deadline_ns = config_.limits.default_deadline_ns;
  context.origins = config_.listen.cors;
  context.hosts = config_.listen.hosts;
  if (config_.compat == Compat::kTriton) context.style = StatusStyle::kTriton;
  return std::make_unique<HttpDoor>(context, thread);
}

void Daemon::Announce() {
  ReadyTableFacts facts;
  const absl::StatusOr<std::string> program = platform::ExecutablePath();
  std::error_code error;
  if (program.ok()) {
    const std::string from_here = std::filesystem::proximate(*program, error).string();
    facts.program = from_here.size() < program->size() ? from_here : *program;
  }
  facts.grpc = http_.bound(kGrpcGroup);
  const std::vector<std::string>& control = http_.bound(kControlGroup);
  facts.grpc.insert(facts.grpc.end(), control.begin(), control.end());
  facts.plain_count = config_.listen.grpc.size();
  facts.http = http_.bound(kHttpGroup);
  facts.plain_http_count = config_.listen.http.size();
  facts.colours = TakesColours(STDOUT_FILENO);
  facts.tokens = !config_.access.tokens.empty();
  Say(ReadyTable(facts, models_, supervisor_));
  // The main process speaks for the unit: the old daemon, if there is one.
  if (!hold_->predecessor.has_value()) notifier_.Ready("serving").IgnoreError();
}

// If models share a task, says which one answers requests that name none.
void Daemon::TellUsualModels() {
  for (const UsualModel& usual : UsualModels(models_, [](absl::string_view) { return true; })) {
    if (usual.model_count < 2) continue;
    logger_.Log(LogLevel::kInfo, "usual_model",
                {{"task", NameOf(usual.task)}, {"model", usual.name}, {"of", usual.model_count}});
  }
}

// A rotator renames the file, then sends SIGUSR1. On an error the old file stays in use.
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

// Before the first worker: workers are the service's clients.
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

// After the models are placed, before their workers start.
absl::Status Daemon::CheckDescriptorLimit() {
  needs_.connections = uint64_t{config_.limits.connections} + config_.limits.http_connections;
  for (const std::shared_ptr<ServedModel>& model : models_.models()) {
    ++needs_.models;
    needs_.files += model->facts.kept_files;
    needs_.workers += model->facts.devices.size();
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return absl::OkStatus();
  descriptors_ = limit.rlim_cur;
  const std::string warning = DescriptorWarning(needs_, descriptors_);
  if (!warning.empty()) WarnOfHost("few_descriptors", warning);
  return CheckDescriptors(needs_, descriptors_);
}

// To the kernel, shared memory is a file too.
void Daemon::WarnOfFileSizeLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  WarnOfHost("file_size_limit",
             absl::StrCat("a file of this process may have ", BytesText(limit.rlim_cur),
                          " (ulimit -f): a log that is larger loses its lines, and a model whose "
                          "shared memory is larger cannot be served"));
}

void Daemon::WarnOfLittleMemory() {
  if (limits_.buffered_bytes == config_.limits.buffered_bytes &&
      limits_.unread_copy_bytes == config_.limits.unread_copy_bytes) {
    return;
  }
  WarnOfHost("little_memory",
             absl::StrCat("the host, or the memory cgroup, has little memory: limits.buffered is ",
                          BytesText(limits_.buffered_bytes), ", limits.unread_copies ",
                          BytesText(limits_.unread_copy_bytes), ", limits.message ",
                          BytesText(limits_.message_bytes)));
}

void Daemon::WarnOfHost(std::string_view event, const std::string& reason) {
  host_warnings_.push_back(reason);
  logger_.Log(LogLevel::kWarn, event, {{"reason", reason}});
}

// Tells a person, and the old daemon, if there is one.
int Daemon::Complain(const absl::Status& status, int exit_code) const {
  if (hold_->predecessor.has_value()) hold_->predecessor->TellEnd(status.message());
  std::fprintf(stderr, "mpsd: %s\n", std::string(status.message()).c_str());
  return exit_code;
}

int Daemon::Serve(const SignalWaiter& signals) {
  absl::Status started = StartCudaService();
  if (started.ok()) started = StartDeviceCopies();
  if (started.ok()) {
    reloader_.Deploy();
    started = CheckDescriptorLimit();
    WarnOfFileSizeLimit();
    WarnOfLittleMemory();
  }
  if (!started.ok()) return Complain(started, kExitConfig);
  AddMethods();
  reloader_.Start();
  StartPuller();
  const bool takes_over = hold_->predecessor.has_value();
  absl::Status status = takes_over ? absl::OkStatus() : Listen();
  if (!status.ok()) {
    return Complain(status, absl::IsInvalidArgument(status) ? kExitConfig : kExitCannotListen);
  }
  models_.stage = ServingStage::kServing;
  status = supervisor_.Start();
  if (status.ok()) status = WaitUntilSettled(signals);
  if (status.ok() && takes_over) status = TakeOver(signals);
  if (!status.ok()) {
    Complain(status, kExitConfig);
    DrainAndStop(signals);
    return kExitConfig;
  }
  TellUsualModels();
  SendMetrics();
  if (signals.requests() == 0) Announce();
  ServeUntilAskedToEnd(signals);
  DrainAndStop(signals);
  return kExitOk;
}

// An error is a reason to serve nothing.
absl::Status Daemon::WaitUntilSettled(const SignalWaiter& signals) {
  StartProgress progress(models_.models().size(), clock_->NowNs());
  absl::Status fault;
  const auto gives_up = [&] {
    Say(progress.LineAt(clock_->NowNs(), supervisor_.Unsettled()));
    if (!config_.keep_going) fault = LastingFault(models_, supervisor_);
    return signals.requests() > 0 || HasLostPredecessor() || absl::IsFailedPrecondition(fault);
  };
  absl::Status settled = supervisor_.WaitUntilSettled(gives_up);
  if (!settled.ok()) return settled;
  // A model is settled once its worker has said why it fails, a moment before the worker ends.
  while (!gives_up() && absl::IsUnavailable(fault)) signals.WaitFor(1, absl::Milliseconds(5));
  if (signals.requests() > 0 || !absl::IsFailedPrecondition(fault)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(fault.message(), "\nmpsd: --keep-going serves without it"));
}

void Daemon::ServeUntilAskedToEnd(const SignalWaiter& signals) {
  reloader_.Begin();
  for (SignalWaiter::News seen; signals.requests() == 0;) {
    const int64_t look_ns = successor_ == nullptr ? HeapTrimmer::kLookNs : kSuccessorLookNs;
    signals.WaitForNews(seen, absl::Nanoseconds(look_ns));
    heap_.Look(plane_.inside());
    keep_awake_.Look(plane_.inside());
    memory_.Look();
    if (HasHandedOver()) return LeaveToSuccessor(signals);
    const SignalWaiter::News before = std::exchange(seen, signals.news());
    if (seen.handovers != before.handovers) BeginHandover();
    if (seen.hangups != before.hangups) Reload();
  }
  EndSuccessor();
}

// A daemon that is ended removes nothing.
void Daemon::EndSuccessor() {
  if (successor_ == nullptr) return;
  successor_ = nullptr;
  RemoveTree(absl::StrCat(config_.state_dir, "/", hold_->successors_worker_folder())).IgnoreError();
}

// Nobody calls this daemon before. A model that the old one cannot serve either is no reason to
// stay with that one.
absl::Status Daemon::TakeOver(const SignalWaiter& signals) {
  if (signals.requests() > 0) return absl::CancelledError("a signal asked it to end");
  if (HasLostPredecessor()) return absl::CancelledError("the old daemon has ended");
  Readiness readiness = health_.Ready();
  const std::vector<std::string>& known = hold_->predecessor->unready_models();
  std::erase_if(readiness.unready_models, [&known](const std::string& model) {
    return std::find(known.begin(), known.end(), model) != known.end();
  });
  if (!readiness.unready_models.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("not every model is ready, so the old daemon serves on: ",
                     absl::StrJoin(readiness.unready_models, ", ")));
  }
  absl::Status status = Listen();
  if (status.ok()) status = hold_->lock.NameHolder();
  if (status.ok()) status = hold_->predecessor->TellReady();
  return status;
}

// Nobody wants what it has begun, and it holds the lock.
bool Daemon::HasLostPredecessor() const {
  return hold_->predecessor.has_value() && !hold_->predecessor->IsThere();
}

void Daemon::BeginHandover() {
  absl::Status status = CheckHandover();
  if (status.ok()) status = StartSuccessor();
  if (status.ok()) return;
  logger_.Log(LogLevel::kWarn, "handover_refused", {{"reason", std::string(status.message())}});
  // While another handover runs, the file waits for that outcome.
  if (successor_ == nullptr) Note(status);
}

void Daemon::Note(const absl::Status& outcome) {
  const absl::Status status = WriteHandoverOutcome(config_.state_dir, outcome);
  if (status.ok()) return;
  logger_.Log(LogLevel::kWarn, "handover_not_noted", {{"reason", std::string(status.message())}});
}

absl::Status Daemon::CheckHandover() const {
  if (successor_ != nullptr) {
    return absl::AbortedError(
        absl::StrCat("process ", successor_->pid(), " is to take over already"));
  }
  if (hold_->predecessor.has_value() && hold_->predecessor->IsThere()) {
    return absl::AbortedError("the daemon before this one has not answered its last requests yet");
  }
  if (getpid() == 1) {
    return absl::FailedPreconditionError("a container ends with its first process");
  }
  if (config_.cuda_mps) {
    return absl::FailedPreconditionError("with cuda_mps two daemons cannot run beside each other");
  }
  const absl::StatusOr<Config> fresh = source_();
  if (!fresh.ok()) return absl::InvalidArgumentError(fresh.status().message());
  if (fresh->state_dir != config_.state_dir) {
    return absl::FailedPreconditionError("state_dir changes with a restart only");
  }
  const HostSample host = SampleHost(models_, supervisor_);
  if (host.used_bytes <= host.available_bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("a second daemon needs about ", BytesText(host.used_bytes), ", and only ",
                   BytesText(host.available_bytes), " are available"));
}

absl::Status Daemon::StartSuccessor() {
  std::vector<HandedSocket> sockets;
  for (const HttpServer::Listener& listener : http_.listeners()) {
    const ListeningSocket& socket = *listener.socket;
    sockets.push_back({listener.asked, socket.address, socket.family, socket.fd.get()});
  }
  auto successor =
      Successor::Start(platform::Arguments(), hold_->lock.fd(), sockets, hold_->worker_folder(),
                       health_.Ready().unready_models, clock_->NowNs());
  if (successor.ok()) successor_ = *std::move(successor);
  return successor.status();
}

bool Daemon::HasHandedOver() {
  if (successor_ == nullptr) return false;
  const bool was_known = successor_->pid() != 0;
  const Successor::State state = successor_->Look(clock_->NowNs());
  if (!was_known && successor_->pid() != 0) {
    logger_.Log(LogLevel::kInfo, "handover_begun", {{"pid", successor_->pid()}});
  }
  if (state == Successor::State::kFailed) {
    logger_.Log(LogLevel::kWarn, "handover_failed", {{"reason", successor_->reason()}});
    Note(absl::InternalError(successor_->reason()));
    EndSuccessor();
  }
  return state == Successor::State::kReady;
}

// Clients find the successor with their next connection, and are answered here until then.
void Daemon::LeaveToSuccessor(const SignalWaiter& signals) {
  logger_.Log(LogLevel::kInfo, "handed_over", {{"pid", successor_->pid()}});
  notifier_.HandedOver(successor_->pid()).IgnoreError();
  http_.StopAccepting();
  http_.StopKeeping();
  Note(absl::OkStatus());
  const int64_t until_ns = clock_->NowNs() + drain_timeout_ns_.load();
  const auto connections = [this] {
    return http_.connection_count(kGrpcGroup) + http_.connection_count(kControlGroup) +
           http_.connection_count(kHttpGroup);
  };
  while (connections() > 0 && clock_->NowNs() < until_ns) {
    if (signals.WaitFor(1, absl::Milliseconds(5))) return;
  }
}

void Daemon::Reload() {
  notifier_.Reloading(*clock_).IgnoreError();
  reloader_.Reload([this](const absl::Status& status) {
    TellUsualModels();
    notifier_.Ready(status.ok() ? "serving" : "serving; the last reload failed").IgnoreError();
  });
}

void Daemon::StartPuller() {
  const absl::StatusOr<std::string> program = platform::ExecutablePath();
  if (!program.ok()) return;
  const auto pulled = [this] {
    reloader_.TakePulled([this](const absl::Status& /*logged*/) { TellUsualModels(); });
  };
  puller_.Start(*program, {[this] { reloader_.TellPulls(); }, pulled});
}

// Addresses stay until a restart, and access rules are judged by them.
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
  resources_.SetLimits(config.resources, config.device_share);
}

// Reports not ready, waits for what is inside, ends the server and then the workers.
void Daemon::DrainAndStop(const SignalWaiter& signals) {
  const bool lame_duck = signals.requests() == 1 && lame_duck_ns_ > 0;
  models_.stage = lame_duck ? ServingStage::kLameDuck : ServingStage::kExiting;
  if (successor_ == nullptr) notifier_.Stopping("draining").IgnoreError();
  http_.StopKeeping();
  puller_.Stop();
  reloader_.Stop();
  const int64_t inside = plane_.inside();
  logger_.Log(inside > 0 || lame_duck ? LogLevel::kInfo : LogLevel::kDebug, "draining",
              {{"inside", inside}});
  if (lame_duck) signals.WaitFor(2, absl::Nanoseconds(lame_duck_ns_.load()));
  models_.stage = ServingStage::kExiting;
  const int64_t until_ns = clock_->NowNs() + drain_timeout_ns_.load();
  const auto awaits = [this] {
    return plane_.inside() > 0 || steps_.inside > 0 || sequences_.inside > 0 ||
           copies_.pending() > 0 || texts_.pending() > 0;
  };
  while (awaits() && clock_->NowNs() < until_ns) {
    if (signals.WaitFor(2, absl::Milliseconds(5))) break;
  }
  steps_.closed = true;
  plane_.FailAll("Server exiting");
  copies_.Stop();
  const bool hurry = signals.requests() > 1;
  const auto grace_ns = [&] {
    return hurry ? 0 : std::max<int64_t>(kNsPerSecond, until_ns - clock_->NowNs());
  };
  http_.Stop(grace_ns());
  supervisor_.Stop();
  logger_.Log(LogLevel::kInfo, "stopped");
}

// After a daemon that had taken over was killed. The supervisor removes the first folder's files.
void RemoveLeftovers(const Config& config) {
  RemoveTree(absl::StrCat(config.state_dir, "/", kWorkerFolders[1])).IgnoreError();
}

absl::StatusOr<std::string> RunnableWorker() {
  absl::StatusOr<std::string> worker = WorkerProgram();
  if (worker.ok() && access(worker->c_str(), X_OK) != 0) {
    return absl::NotFoundError(absl::StrCat("there is no ", *worker, " to run models with"));
  }
  return worker;
}

// libtorch reads the variable when it is loaded, so workers inherit it.
void SetMpsFallback(bool wanted) {
  setenv("PYTORCH_ENABLE_MPS_FALLBACK", wanted ? "1" : "0", /*overwrite=*/1);
}

int Complain(const absl::Status& status, int exit_code) {
  std::fprintf(stderr, "mpsd: %s\n", std::string(status.message()).c_str());
  return exit_code;
}

}  // namespace

int RunDaemon(const Config& config, ConfigSource source, const SignalWaiter& signals,
              std::optional<Predecessor> predecessor) {
  platform::HideMemory();
  ShareHeap();
  absl::StatusOr<InstanceLock> lock = predecessor.has_value()
                                          ? InstanceLock::Adopt(predecessor->TakeLock())
                                          : InstanceLock::Take(config.state_dir);
  if (!lock.ok()) {
    return Complain(lock.status(),
                    absl::IsAlreadyExists(lock.status()) ? kExitRunsAlready : kExitConfig);
  }
  const DaemonHold hold{*std::move(lock), std::move(predecessor)};
  if (!hold.predecessor.has_value()) RemoveLeftovers(config);
  absl::StatusOr<std::string> worker = RunnableWorker();
  if (!worker.ok()) return Complain(worker.status(), kExitConfig);
  absl::StatusOr<std::unique_ptr<LogFile>> log_file = LogFile::Open(config.log.file);
  if (!log_file.ok()) return Complain(log_file.status(), kExitConfig);
  RaiseOwnDescriptorLimit();
  SetMpsFallback(config.mps_fallback);
  if (config.cuda_mps) CudaService::SetEnvironment(CudaServiceFolder(config));
  Daemon daemon(config, std::move(source), &hold, *std::move(log_file), *std::move(worker));
  if (absl::Status opened = daemon.OpenFiles(); !opened.ok()) return Complain(opened, kExitConfig);
  return daemon.Run(signals);
}

}  // namespace mpsd
