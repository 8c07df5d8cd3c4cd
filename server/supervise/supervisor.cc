#include "server/supervise/supervisor.h"

#include <algorithm>
#include <utility>

#include "proto/base/check.h"
#include "proto/base/platform.h"
#include "server/supervise/policy/watchdog_policy.h"

namespace mpsd {
namespace {

constexpr int64_t kStopGraceNs = 300 * kNsPerMs;
constexpr int64_t kStopLookNs = 5 * kNsPerMs;

}  // namespace

Supervisor::Supervisor(std::unique_ptr<WorkerHost> host, const MemoryLimits& memory, Plane* plane,
                       const Clock* clock, Logger* logger)
    : host_(std::move(host)),
      board_(clock),
      completions_(plane, clock),
      budget_(memory.shared_bytes, memory.clients_bytes) {
  services_.plane = plane;
  services_.keeper = this;
  services_.clock = clock;
  services_.logger = logger;
  services_.host = host_.get();
  services_.bells = &plane->bells();
  services_.board = &board_;
  services_.budget = &budget_;
  services_.jitter = [this] {
    services_.thread.Check();
    return absl::Uniform<double>(random_, 0, 1);
  };
}

Supervisor::~Supervisor() { Stop(); }

void Supervisor::Add(SupervisedModel model) {
  // While two generations have workers, both count.
  model.served->metrics.workers_configured.fetch_add(static_cast<int64_t>(model.processes.size()));
  services_.plane->Add(model.pool);
  board_.Open(*model.served);
  {
    absl::MutexLock lock(&mu_);
    added_.push_back(std::move(model));
  }
  host_->Wake();
}

void Supervisor::Retire(const std::shared_ptr<ServedModel>& model) {
  model->queue->Close();
  {
    absl::MutexLock lock(&mu_);
    retired_.push_back(model);
  }
  host_->Wake();
}

absl::Status Supervisor::Start() {
  MPSD_CHECK(!thread_.joinable());
  absl::Status status = host_->Open();
  if (status.ok()) status = completions_.Start();
  if (!status.ok()) return status;
  thread_ = std::thread([this] { Main(); });
  return absl::OkStatus();
}

void Supervisor::Stop() {
  if (thread_.joinable()) {
    stopping_ = true;
    host_->Wake();
    thread_.join();
  }
  completions_.Stop();
}

void Supervisor::Condemn(const ServedModel& model, uint32_t worker, uint32_t epoch,
                         const std::string& reason) {
  {
    absl::MutexLock lock(&mu_);
    condemned_.push_back({&model, worker, epoch, reason});
  }
  host_->Wake();
}

void Supervisor::WakeBy(int64_t when_ns) {
  services_.plane->DrainBy(when_ns);
  if (when_ns > services_.clock->NowNs()) return;
  tick_wanted_ = true;
  host_->Wake();
}

// ---- the thread ----

void Supervisor::Main() {
  platform::NameThread("supervisor");
  services_.thread.Bind();
  services_.thread.Check();
  while (!stopping_) {
    TakeNews();
    Tick();
    Wait(NextTimeoutNs());
  }
  EndAll();
  services_.thread.Unbind();
}

// Does what other threads have asked for.
void Supervisor::TakeNews() {
  decltype(added_) added;
  decltype(retired_) retired;
  decltype(condemned_) condemned;
  {
    absl::MutexLock lock(&mu_);
    added.swap(added_);
    retired.swap(retired_);
    condemned.swap(condemned_);
  }
  for (SupervisedModel& model : added) {
    MPSD_CHECK(Find(model.served.get()) == nullptr);
    groups_.push_back(std::make_unique<WorkerGroup>(std::move(model), &services_));
  }
  for (const std::shared_ptr<ServedModel>& model : retired) {
    WorkerGroup* group = Find(model.get());
    MPSD_CHECK(group != nullptr);
    group->Retire();
  }
  KillCondemned(condemned);
}

// Model and worker may be gone since then.
void Supervisor::KillCondemned(const std::vector<Sentence>& condemned) {
  for (const Sentence& sentence : condemned) {
    WorkerGroup* group = Find(sentence.model);
    SupervisedWorker* worker = group == nullptr ? nullptr : group->Find(sentence.worker);
    if (worker == nullptr || worker->epoch() != sentence.epoch) continue;
    worker->GiveUp(WorkerExit::kProtocol, sentence.reason);
  }
}

void Supervisor::Tick() {
  const int64_t now_ns = services_.clock->NowNs();
  services_.own_time.Advance(now_ns);
  services_.relief.Note(pressure_, now_ns);
  const bool due = tick_wanted_.exchange(false) || now_ns >= next_tick_ns_;
  if (due) next_tick_ns_ = now_ns + kWatchdogTickNs;
  for (const std::unique_ptr<WorkerGroup>& group : groups_) {
    if (due || group->ends_soon()) group->Tick();
    group->StartDue();
  }
  std::erase_if(groups_, [](const std::unique_ptr<WorkerGroup>& group) {
    if (group->gone()) group->Close();
    return group->gone();
  });
}

int64_t Supervisor::NextTimeoutNs() const {
  const int64_t now_ns = services_.clock->NowNs();
  int64_t next_ns = next_tick_ns_;
  for (const std::unique_ptr<WorkerGroup>& group : groups_) {
    next_ns = std::min(next_ns, group->NextNs(now_ns));
  }
  return std::max<int64_t>(0, next_ns - now_ns);
}

void Supervisor::Wait(int64_t timeout_ns) {
  const std::vector<uint64_t> tokens = host_->Wait(timeout_ns);
  services_.own_time.Advance(services_.clock->NowNs());
  for (const uint64_t token : tokens) {
    // None has the token if its worker has left.
    for (const std::unique_ptr<WorkerGroup>& group : groups_) {
      if (group->OnEvent(token)) break;
    }
  }
}

WorkerGroup* Supervisor::Find(const ServedModel* model) {
  for (const std::unique_ptr<WorkerGroup>& group : groups_) {
    if (group->served() == model) return group.get();
  }
  return nullptr;
}

bool Supervisor::HasProcess() const {
  const auto has = [](const auto& group) { return group->has_process(); };
  return std::any_of(groups_.begin(), groups_.end(), has);
}

// Closes all workers' sockets, and kills those that stay.
void Supervisor::EndAll() {
  for (const std::unique_ptr<WorkerGroup>& group : groups_) group->Dismiss();
  const int64_t until_ns = services_.clock->NowNs() + kStopGraceNs;
  while (HasProcess() && services_.clock->NowNs() < until_ns) Wait(kStopLookNs);
  for (const std::unique_ptr<WorkerGroup>& group : groups_) group->EndNow();
}

}  // namespace mpsd
