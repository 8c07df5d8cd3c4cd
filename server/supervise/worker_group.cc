#include "server/supervise/worker_group.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/backoff_policy.h"
#include "proto/base/check.h"
#include "proto/base/limits.h"
#include "server/pool/pool_workers.h"
#include "server/supervise/servable_spec.h"

namespace mpsd {
namespace {

// How often the supervisor looks at something that ends soon, such as a draining worker.
constexpr int64_t kSoonNs = 20 * kNsPerMs;
// The reason in the log where a worker that gives no sign is replaced.
constexpr char kSilent[] = "silent";

DeviceHealth* HealthOf(const std::string& device, SuperviseServices* services) {
  services->thread.Check();
  const std::string name = LosableDevice(device);
  return name.empty() ? nullptr : &services->devices[name];
}

}  // namespace

WorkerGroup::WorkerGroup(SupervisedModel model, SuperviseServices* services)
    : model_(std::move(model)), services_(services) {
  for (uint32_t i = 0; i < model_.processes.size(); ++i) AddWorker(i, model_.processes[i]);
}

WorkerGroup::~WorkerGroup() = default;

void WorkerGroup::AddWorker(uint32_t index, const DeviceShare& share) {
  MPSD_CHECK(Find(index) == nullptr);
  std::unique_ptr<DeviceStarts>& starts = starts_[share.device];
  if (starts == nullptr) {
    starts = std::make_unique<DeviceStarts>(
        DeviceStarts{HealthOf(share.device, services_), Circuit(model_.limits.circuit)});
  }
  workers_.push_back(
      std::make_unique<SupervisedWorker>(this, index, epochs_[index], share, services_));
}

WorkerGroup::DeviceStarts* WorkerGroup::StartsOf(const SupervisedWorker& worker) const {
  const auto found = starts_.find(worker.share().device);
  MPSD_CHECK(found != starts_.end());
  return found->second.get();
}

bool WorkerGroup::OnEvent(uint64_t token) {
  services_->thread.Check();
  for (const auto& worker : workers_) {
    const uint64_t first = worker->first_token();
    if (token < first || token >= first + kTokensPerWorker) continue;
    worker->OnEvent(static_cast<WorkerEvent>(token - first));
    return true;
  }
  return false;
}

SupervisedWorker* WorkerGroup::Find(uint32_t index) {
  for (const auto& worker : workers_) {
    if (worker->index() == index) return worker.get();
  }
  return nullptr;
}

SupervisedWorker* WorkerGroup::FindByLink(const WorkerLink* link) {
  for (const auto& worker : workers_) {
    if (worker->link() == link) return worker.get();
  }
  return nullptr;
}

bool WorkerGroup::has_process() const {
  const auto has = [](const auto& worker) { return worker->has_process(); };
  return std::any_of(workers_.begin(), workers_.end(), has);
}

void WorkerGroup::EndNow() {
  for (const auto& worker : workers_) worker->EndNow();
}

// ---- starts ----

void WorkerGroup::StartDue() {
  services_->thread.Check();
  Sweep();
  const int64_t now_ns = services_->clock->NowNs();
  for (const auto& worker : workers_) {
    const WorkerLife& life = worker->life();
    if (worker->has_process() || life.leaving() || life.start_at_ns() > now_ns) continue;
    if (MayStart(worker.get())) worker->Start();
  }
  PublishCircuit();
}

// Asks the model's own circuit first, because asking the device uses the turn of all other models.
bool WorkerGroup::MayStart(SupervisedWorker* worker) {
  const int64_t now_ns = services_->clock->NowNs();
  const std::string& device = worker->share().device;
  const auto starting = [&device](const auto& other) {
    return other->life().starting() && other->share().device == device;
  };
  const auto others = std::count_if(workers_.begin(), workers_.end(), starting);
  DeviceStarts* starts = StartsOf(*worker);
  if (!starts->circuit.MayStart(now_ns, static_cast<uint32_t>(others))) return false;
  if (starts->health == nullptr || starts->health->MayStart(now_ns)) return true;
  worker->Wait(absl::StrCat("device ", LosableDevice(device), " was lost ", kLossesInARow,
                            " times in a row, and is tried now and then"));
  return false;
}

int64_t WorkerGroup::EarliestStartNs(const SupervisedWorker& worker) const {
  const DeviceStarts* starts = StartsOf(worker);
  const int64_t device_ns = starts->health == nullptr ? 0 : starts->health->rests_until_ns();
  return std::max({worker.life().start_at_ns(), starts->circuit.open_until_ns(), device_ns});
}

// Forgets the workers that have left for good, but keeps their epochs.
void WorkerGroup::Sweep() {
  std::erase_if(workers_, [this](const std::unique_ptr<SupervisedWorker>& worker) {
    if (worker->has_process() || !worker->life().leaving()) return false;
    epochs_[worker->index()] = worker->epoch();
    services_->board->Remove(*served(), worker->index());
    return true;
  });
}

bool WorkerGroup::ends_soon() const {
  const auto ends = [](const auto& worker) { return worker->ends_soon(); };
  return leaving_ || retired_ || std::any_of(workers_.begin(), workers_.end(), ends);
}

int64_t WorkerGroup::NextNs(int64_t now_ns) const {
  int64_t next_ns = ends_soon() ? now_ns + kSoonNs : INT64_MAX;
  for (const auto& worker : workers_) {
    if (worker->state() != WorkerState::kWaiting || worker->life().leaving()) continue;
    const int64_t start_ns = EarliestStartNs(*worker);
    // While one worker probes, the others wait for its outcome, not for a time.
    const bool probes = StartsOf(*worker)->circuit.state() == CircuitState::kProbing;
    if (!probes || start_ns > now_ns) next_ns = std::min(next_ns, start_ns);
  }
  return next_ns;
}

absl::Status WorkerGroup::OnLoaded(SupervisedWorker* worker, const LoadReport& report) {
  if (!served()->loaded) {
    if (absl::Status status = CompleteSpec(report); !status.ok()) return status;
  } else if (!(report.spec == served()->spec)) {
    return absl::FailedPreconditionError("the model file is not the one that is served");
  } else if (report.precision != served()->precision) {
    // Its next incarnation is told that precision.
    return absl::UnavailableError(absl::StrCat("it computes in ", NameOf(report.precision),
                                               ", and the model's other workers in ",
                                               NameOf(served()->precision)));
  }
  worker->TakeLanes(report);
  return GoOn(worker);
}

// A worker that is alone on its device would gain nothing.
bool WorkerGroup::MayShareWeights(const std::string& device) const {
  const auto is_there = [&device](const DeviceShare& share) { return share.device == device; };
  return std::count_if(model_.processes.begin(), model_.processes.end(), is_there) > 1;
}

absl::Status WorkerGroup::GoOn(SupervisedWorker* worker) {
  const std::string& device = worker->share().device;
  if (!MayShareWeights(device)) return worker->AttachSegments();
  SharedWeights& weights = weights_[device];
  switch (weights.Next(worker->index(), worker->weight_bytes())) {
    case SharedWeights::Step::kOwn:
      return worker->AttachSegments();
    case SharedWeights::Step::kShare:
      return worker->AskForWeights(/*memory=*/-1);
    case SharedWeights::Step::kUse:
      return worker->AskForWeights(weights.memory());
    case SharedWeights::Step::kWait:
      worker->WaitForWeights();
  }
  return absl::OkStatus();
}

// The worker goes on whatever it said.
absl::Status WorkerGroup::OnWeights(SupervisedWorker* worker, const WeightsTold& told,
                                    UniqueFd memory) {
  const std::string& device = worker->share().device;
  SharedWeights& weights = weights_[device];
  weights.TakeAnswer(worker->index(), told.bytes, std::move(memory));
  const bool is_well = told.bytes > 0;
  services_->logger->Log(is_well ? LogLevel::kInfo : LogLevel::kWarn,
                         is_well ? "weights_shared" : "weights_not_shared",
                         {{"model", served()->name},
                          {"worker", worker->index()},
                          {"device", device},
                          {"bytes", told.bytes},
                          {"reason", Printable(told.why)}});
  absl::Status status = worker->AttachSegments();
  LetOthersGoOn(device);
  return status;
}

// Workers that waited for weights take their next step, now that another has answered or died.
void WorkerGroup::LetOthersGoOn(const std::string& device) {
  for (const auto& worker : workers_) {
    if (!worker->life().waits_for_weights() || worker->share().device != device) continue;
    if (absl::Status status = GoOn(worker.get()); !status.ok()) worker->GiveUpLoaded(status);
  }
}

// The first worker that has loaded the model reports the complete spec, by which the pool gets its
// memory.
absl::Status WorkerGroup::CompleteSpec(const LoadReport& report) {
  MPSD_CHECK(slabs_ == nullptr);
  if (absl::Status status = CheckServable(report.spec); !status.ok()) return status;
  if (model_.spec_fault != nullptr) {
    if (absl::Status status = model_.spec_fault(report.spec); !status.ok()) return status;
  }
  if (absl::Status status = CheckLabels(report.labels); !status.ok()) return status;
  if (absl::Status status = CheckPrecision(model_.order.precision, report.precision);
      !status.ok()) {
    return status;
  }
  served()->spec = report.spec;
  served()->precision = report.precision;
  served()->precision_note = Printable(report.precision_note);
  TakeLabels(report.labels);
  WarnOfTask();
  const uint64_t bytes = model_.first_segment_bytes(served()->spec);
  absl::Status status = TakeMemory(bytes, absl::StrCat("model '", served()->name, "'"));
  if (!status.ok()) return status;
  absl::StatusOr<OwnedSegment> segment = OwnedSegment::Create(SegmentKind::kSlabs, bytes, 0);
  if (!segment.ok()) {
    services_->budget->GiveBack(bytes);
    return NoSharedMemory(segment.status());
  }
  pool()->memory()->Add(*std::move(segment));
  slabs_ = std::make_unique<SlabAnnouncer>(pool(), services_->budget, served()->name);
  served()->loaded = true;
  for (const auto& worker : workers_) worker->StartAfterAll();
  return absl::OkStatus();
}

// The labels apply to each output with one number per class. The config's labels take precedence.
void WorkerGroup::TakeLabels(const std::vector<std::string>& labels) {
  if (labels.empty()) return;
  for (const TensorSpec& output : served()->spec.outputs) {
    const bool is_of_classes =
        !output.dims.empty() && output.dims.back() == static_cast<int64_t>(labels.size());
    if (is_of_classes) served()->labels.emplace(output.name, labels);
  }
}

// The config's task counts, but it may be a mistake.
void WorkerGroup::WarnOfTask() {
  const ModelTask ours = served()->facts.task;
  const ModelTask files = served()->spec.task;
  if (ours == ModelTask::kAuto || files == ModelTask::kAuto || ours == files) return;
  services_->logger->Log(
      LogLevel::kWarn, "task_overruled",
      {{"model", served()->name}, {"config", NameOf(ours)}, {"file", NameOf(files)}});
}

absl::Status WorkerGroup::TakeMemory(uint64_t bytes, const std::string& what) {
  const absl::Status status = services_->budget->Take(bytes, what);
  if (!status.ok()) services_->board->FailMemory(*served(), status);
  return status;
}

absl::Status WorkerGroup::NoSharedMemory(const absl::Status& why) {
  services_->logger->Log(LogLevel::kError, "no_shared_memory",
                         {{"model", served()->name}, {"reason", why.message()}});
  return absl::ResourceExhaustedError("no shared memory could be had for it; the log says why");
}

void WorkerGroup::OnServing(SupervisedWorker* worker, int64_t start_took_ns) {
  last_start_ns_ = start_took_ns;
  StartsOf(*worker)->circuit.OnServing();
  TellDevice(*worker, [](DeviceHealth* device) { device->OnServing(); });
  CheckFreshSize(*worker);
  PublishCircuit();
}

void WorkerGroup::OnDeath(SupervisedWorker* worker, const WorkerDeath& death) {
  Circuit* circuit = &StartsOf(*worker)->circuit;
  if (death.served_well) circuit->OnGoodService();
  if (death.conviction >= Conviction::kRequest) {
    LastThatCounted()->OnStrike();
  } else if (death.conviction == Conviction::kNone && death.reason.counts && !death.lasting) {
    circuit->OnDeath(services_->clock->NowNs(), services_->jitter());
  }
  if (death.reason.exit == WorkerExit::kDevice) {
    TellDevice(*worker, [this, worker](DeviceHealth* device) {
      device->OnLost(worker->started_ns(), services_->clock->NowNs());
    });
  }
  weights_[worker->share().device].Forget(worker->index());
  LetOthersGoOn(worker->share().device);
  // The fresh worker takes the place of the old one, which is gone already.
  if (replacement_.has_value() && worker->index() == replacement_->old) {
    worker->Dismiss();
    replacement_.reset();
  }
  PublishCircuit();
  ExpectWorker();
}

// The circuit with the most recent counted death: one request may kill workers on several devices.
Circuit* WorkerGroup::LastThatCounted() {
  const auto last =
      std::max_element(starts_.begin(), starts_.end(), [](const auto& a, const auto& b) {
        return a.second->circuit.last_death_ns() < b.second->circuit.last_death_ns();
      });
  return &last->second->circuit;
}

// Tells the health of the worker's device what happened on it. Logs if that changed whether workers
// may start there.
void WorkerGroup::TellDevice(const SupervisedWorker& worker,
                             const std::function<void(DeviceHealth*)>& tell) {
  DeviceHealth* health = StartsOf(worker)->health;
  if (health == nullptr) return;
  const bool was_bad = health->bad();
  tell(health);
  if (health->bad() == was_bad) return;
  services_->logger->Log(was_bad ? LogLevel::kInfo : LogLevel::kError,
                         was_bad ? "device_back" : "device_bad",
                         {{"device", LosableDevice(worker.share().device)},
                          {"model", served()->name},
                          {"losses_in_a_row", kLossesInARow}});
}

bool WorkerGroup::WaitsForDevice() const {
  const auto waits = [this](const auto& worker) {
    const DeviceHealth* health = StartsOf(*worker)->health;
    const bool may_start = !worker->has_process() && !worker->life().leaving();
    return may_start && health != nullptr && health->bad();
  };
  return std::any_of(workers_.begin(), workers_.end(), waits);
}

// The circuit of the device that is worst off. If workers wait for their device, it is open too.
CircuitState WorkerGroup::CircuitOfAll() const {
  const auto any_is = [this](CircuitState state) {
    return std::any_of(starts_.begin(), starts_.end(), [state](const auto& starts) {
      return starts.second->circuit.state() == state;
    });
  };
  if (any_is(CircuitState::kOpen)) return CircuitState::kOpen;
  if (any_is(CircuitState::kProbing)) return CircuitState::kProbing;
  return WaitsForDevice() ? CircuitState::kOpen : CircuitState::kClosed;
}

void WorkerGroup::PublishCircuit() {
  const CircuitState state = CircuitOfAll();
  if (state == published_circuit_) return;
  published_circuit_ = state;
  const bool closed = published_circuit_ == CircuitState::kClosed;
  served()->metrics.circuit_open.store(closed ? 0 : 1);
  services_->board->PublishCircuit(*served(), CircuitStateName(published_circuit_));
  services_->logger->Log(closed ? LogLevel::kInfo : LogLevel::kWarn, "circuit",
                         {{"model", served()->name},
                          {"state", CircuitStateName(published_circuit_)},
                          {"deaths_allowed", model_.limits.circuit.deaths}});
}

// Tells the pool when the next worker can serve, so that it refuses requests that would end before.
void WorkerGroup::ExpectWorker() {
  const int64_t now_ns = services_->clock->NowNs();
  int64_t expected_ns = INT64_MAX;
  bool stays = false;
  for (const auto& worker : workers_) {
    if (worker->life().leaving()) continue;
    stays = true;
    if (worker->life().failed()) continue;
    const int64_t start_ns = EarliestStartNs(*worker);
    const bool waits = worker->state() == WorkerState::kWaiting && start_ns > now_ns;
    expected_ns = std::min(expected_ns, waits ? start_ns + last_start_ns_ : INT64_MIN);
  }
  if (stays) pool()->workers()->ExpectAt(expected_ns);
}

// ---- time ----

void WorkerGroup::Tick() {
  services_->thread.Check();
  for (const auto& worker : workers_) worker->Tick();
  EndThoseThatHoldRequestsUp();
  TellPressure();
  TickSlabs();
  NoteGoodService();
  ExpectWorker();
  if (retired_ && pool()->inside() == 0) Dismiss();
  if (!retired_ && !leaving_) TickReplacement();
}

// A stopped worker may go on at any moment, so nobody takes its batches from it: its death frees
// them. Where no other worker serves, its watchdog decides.
void WorkerGroup::EndThoseThatHoldRequestsUp() {
  const auto serves = [](const auto& worker) {
    return worker->state() == WorkerState::kServing && !worker->life().is_silent();
  };
  if (std::none_of(workers_.begin(), workers_.end(), serves)) return;
  for (const auto& worker : workers_) {
    const WorkerLife::Serving* service = worker->life().service();
    if (service == nullptr || !service->watch.holds_requests_up) continue;
    worker->GiveUp(WorkerExit::kHang, "another worker can run the requests in it");
  }
}

void WorkerGroup::TellPressure() {
  for (const auto& worker : workers_) {
    WorkerLink* link = worker->link();
    if (link != nullptr) link->SetMemoryPressure(services_->relief.pressure());
  }
}

void WorkerGroup::NoteGoodService() {
  const int64_t now_ns = services_->clock->NowNs();
  for (const auto& worker : workers_) {
    const WorkerLife::Serving* service = worker->life().service();
    const bool serves = worker->state() == WorkerState::kServing;
    if (!serves || now_ns - service->since_ns <= kGoodServiceNs) continue;
    StartsOf(*worker)->circuit.OnGoodService();
    if (!service->watch.answers) continue;
    TellDevice(*worker, [](DeviceHealth* device) { device->OnGoodService(); });
  }
}

void WorkerGroup::TickSlabs() {
  if (slabs_ == nullptr) return;
  const auto find = [this](const WorkerLink* link) {
    SupervisedWorker* worker = FindByLink(link);
    MPSD_CHECK(worker != nullptr);  // the announcer knows a link from its attachment to its death
    return worker;
  };
  const auto is_warm = [&find](const WorkerLink* link) { return find(link)->life().ready(); };
  for (const WorkerLink* link : slabs_->Tick(is_warm, services_->own_time.now_ns())) {
    find(link)->GiveUp(WorkerExit::kProtocol, "it does not say what memory it has mapped");
  }
}

void WorkerGroup::Retire() {
  services_->thread.Check();
  retired_ = true;
  services_->board->PublishRetired(*served());
  Tick();
}

void WorkerGroup::Dismiss() {
  services_->thread.Check();
  if (leaving_) return;
  leaving_ = true;
  for (const auto& worker : workers_) worker->Dismiss();
}

void WorkerGroup::Close() {
  services_->thread.Check();
  MPSD_CHECK(gone());
  services_->plane->Remove(pool());
  services_->budget->GiveBack(pool()->memory()->Bytes());
  served()->metrics.workers_configured.fetch_sub(static_cast<int64_t>(model_.processes.size()));
  services_->board->Forget(*served());
}

// ---- replacement of workers that have served long enough ----

void WorkerGroup::TickReplacement() {
  if (replacement_.has_value()) return FinishReplacement();
  const int64_t now_ns = services_->clock->NowNs();
  if (now_ns < no_replacement_until_ns_) return;
  if (SupervisedWorker* silent = SilentWithoutOther(); silent != nullptr) {
    return BeginReplacement(silent, kSilent);
  }
  for (const auto& worker : workers_) {
    if (worker->state() != WorkerState::kServing) continue;
    const WorkerUse use = UseOf(*worker);
    const char* reason = RecycleReason(model_.limits.recycle, use, worker->jitter());
    if (reason == nullptr) continue;
    if (use.relieves) services_->relief.Tried(now_ns);
    return BeginReplacement(worker.get(), reason);
  }
}

// The silent worker of a model of which no other worker serves or starts; null: there is none.
SupervisedWorker* WorkerGroup::SilentWithoutOther() const {
  SupervisedWorker* silent = nullptr;
  for (const auto& worker : workers_) {
    const bool serves = worker->state() == WorkerState::kServing;
    if (worker->life().starting() || (serves && !worker->life().is_silent())) return nullptr;
    if (serves && silent == nullptr) silent = worker.get();
  }
  return silent;
}

// A figure that no limit needs is not read from the system.
WorkerUse WorkerGroup::UseOf(const SupervisedWorker& worker) {
  const WorkerLife::Serving& service = *worker.life().service();
  const RecycleLimits& limits = model_.limits.recycle;
  const int64_t now_ns = services_->clock->NowNs();
  const bool relief_is_due = services_->relief.IsDue(now_ns);
  WorkerUse use;
  use.requests = limits.requests > 0 ? pool()->workers()->Progress(worker.index()).requests : 0;
  if (limits.resident_bytes > 0 || relief_is_due) use.resident_bytes = worker.resident_bytes();
  use.age_ns = now_ns - service.since_ns;
  use.is_too_small = pool()->workers()->IsTooSmall(worker.index());
  use.relieves = relief_is_due && PressureRelief::HasGrown(service.fresh_bytes, use.resident_bytes);
  return use;
}

// One replacement at a time, so that the host holds at most one worker more than configured.
void WorkerGroup::BeginReplacement(SupervisedWorker* old, const char* reason) {
  const uint32_t index = FreeIndex();
  const uint64_t resident_bytes = old->resident_bytes();
  const bool fits = index < kMaxWorkers && resident_bytes < services_->host->AvailableMemoryBytes();
  services_->logger->Log(fits ? LogLevel::kInfo : LogLevel::kWarn,
                         fits ? "worker_replaced" : "worker_not_replaced",
                         {{"model", served()->name},
                          {"worker", old->index()},
                          {"by", index},
                          {"reason", reason},
                          {"resident_bytes", resident_bytes}});
  no_replacement_until_ns_ = services_->clock->NowNs() + kReplacementRetryNs;
  if (!fits) return pool()->workers()->KeepSize(no_replacement_until_ns_);
  replacement_ = {index, old->index(), old->life().is_silent()};
  if (replacement_->stands_in) pool()->workers()->SetPaused(old->index(), true);
  AddWorker(index, old->share());
}

// Logs once if the limit is below a fresh worker's size: then each worker will be replaced.
void WorkerGroup::CheckFreshSize(const SupervisedWorker& fresh) {
  const uint64_t limit_bytes = model_.limits.recycle.resident_bytes;
  if (said_too_small_ || limit_bytes == 0 || fresh.resident_bytes() < limit_bytes) return;
  said_too_small_ = true;
  services_->logger->Log(LogLevel::kWarn, "recycle_limit_too_small",
                         {{"model", served()->name},
                          {"resident_memory", limit_bytes},
                          {"fresh_worker_bytes", fresh.resident_bytes()}});
}

void WorkerGroup::FinishReplacement() {
  SupervisedWorker* fresh = Find(replacement_->fresh);
  SupervisedWorker* old = Find(replacement_->old);
  // Both stay in the group until they leave, and the replacement ends before either does.
  MPSD_CHECK(fresh != nullptr && old != nullptr);
  const bool old_serves = old->state() == WorkerState::kServing;
  if (replacement_->stands_in && old_serves && !old->life().is_silent()) return EndStandIn(fresh);
  if (fresh->state() == WorkerState::kServing) {
    if (replacement_->stands_in || !old_serves) return;
    old->Drain();
    served()->metrics.worker_recycles.fetch_add(1);
    replacement_.reset();
    no_replacement_until_ns_ = 0;
  } else if (fresh->state() == WorkerState::kWaiting && fresh->epoch() > epochs_[fresh->index()]) {
    // The fresh worker died on its way: the old one goes on, and another try follows later.
    if (replacement_->stands_in && old_serves) pool()->workers()->SetPaused(old->index(), false);
    fresh->Dismiss();
    replacement_.reset();
    pool()->workers()->KeepSize(no_replacement_until_ns_);
  }
}

// The old one gives signs again. If it is killed for its silence instead, OnDeath() lets the fresh
// one take its place.
void WorkerGroup::EndStandIn(SupervisedWorker* fresh) {
  services_->logger->Log(
      LogLevel::kInfo, "worker_back",
      {{"model", served()->name}, {"worker", replacement_->old}, {"without", replacement_->fresh}});
  pool()->workers()->SetPaused(replacement_->old, false);
  fresh->state() == WorkerState::kServing ? fresh->Drain() : fresh->Dismiss();
  replacement_.reset();
}

uint32_t WorkerGroup::FreeIndex() const {
  uint32_t index = 0;
  const auto taken = [&index](const auto& worker) { return worker->index() == index; };
  while (std::any_of(workers_.begin(), workers_.end(), taken)) ++index;
  return index;
}

}  // namespace mpsd
