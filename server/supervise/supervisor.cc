#include "server/supervise/supervisor.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "proto/base/check.h"
#include "server/supervise/policy/watchdog_policy.h"

namespace mpsd {
namespace {

constexpr uint64_t kWakeToken = 0;
constexpr int64_t kStopGraceNs = 300 * kNsPerMs;

}  // namespace

Supervisor::Supervisor(SupervisorOptions options, Plane* plane, const Clock* clock, Logger* logger)
    : board_(clock), completions_(plane, clock), budget_(options.shared_memory_bytes) {
  services_.worker_binary = std::move(options.worker_binary);
  services_.temporary_folder = std::move(options.temporary_folder);
  services_.plane = plane;
  services_.keeper = this;
  services_.clock = clock;
  services_.logger = logger;
  services_.completions = &completions_;
  services_.board = &board_;
  services_.remover = &remover_;
  services_.budget = &budget_;
}

Supervisor::~Supervisor() { Stop(); }

void Supervisor::Add(SupervisedModel model) {
  // Of the generation before and of this one, while both have workers.
  model.served->metrics.workers_configured.fetch_add(model.processes);
  services_.plane->Add(model.pool);
  board_.Open(*model.served);
  absl::MutexLock lock(&mu_);
  added_.push_back(std::move(model));
  RingWake();
}

void Supervisor::Retire(const std::shared_ptr<ServedModel>& model) {
  model->queue->Close();
  absl::MutexLock lock(&mu_);
  retired_.push_back(model);
  RingWake();
}

absl::Status Supervisor::Start() {
  absl::StatusOr<platform::Bell> bell = platform::CreateBell();
  if (!bell.ok()) return bell.status();
  absl::StatusOr<platform::Poller> poller = platform::Poller::Create();
  if (!poller.ok()) return poller.status();
  services_.poller = *std::move(poller);
  absl::Status status = services_.poller.AddReadable(bell->poll_fd.get(), kWakeToken);
  if (status.ok()) status = completions_.Start();
  if (!status.ok()) return status;
  RemoveLeftovers();
  {
    absl::MutexLock lock(&mu_);
    wake_ = *std::move(bell);
  }
  thread_ = std::thread([this] { Main(); });
  return absl::OkStatus();
}

// Of a daemon that was killed. Its workers may not have ended yet: they keep their folders, under
// another name, until there is nobody left who writes to them.
void Supervisor::RemoveLeftovers() {
  const std::string left = services_.temporary_folder + ".left";
  std::error_code error;
  std::filesystem::remove_all(left, error);
  std::filesystem::rename(services_.temporary_folder, left, error);
  if (!error) remover_.Remove(left);
}

void Supervisor::Stop() {
  if (thread_.joinable()) {
    stopping_ = true;
    platform::RingBell(wake_.ring_fd.get());
    thread_.join();
  }
  completions_.Stop();
}

void Supervisor::Condemn(const ServedModel& model, uint32_t worker, uint32_t epoch,
                         const std::string& reason) {
  absl::MutexLock lock(&mu_);
  condemned_.push_back({&model, worker, epoch, reason});
  RingWake();
}

// Who wants to be looked at now is a pool that lacks memory, and that is made here.
void Supervisor::WakeBy(int64_t when_ns) {
  completions_.WakeBy(when_ns);
  if (when_ns > services_.clock->NowNs()) return;
  tick_wanted_ = true;
  absl::MutexLock lock(&mu_);
  RingWake();
}

// Before Start() there is nobody to wake.
void Supervisor::RingWake() {
  if (wake_.ring_fd.valid()) platform::RingBell(wake_.ring_fd.get());
}

// ---- the thread ----

void Supervisor::Main() {
  platform::NameThread("supervisor");
  while (!stopping_) {
    TakeNews();
    Tick();
    Wait();
  }
  EndAll();
}

void Supervisor::Wait() {
  // The tokens are copied: handling one may remove another's descriptor.
  const std::vector<uint64_t> tokens = services_.poller.Wait(NextTimeoutNs());
  services_.own_time.Advance(services_.clock->NowNs());
  for (const uint64_t token : tokens) Handle(token);
}

void Supervisor::Handle(uint64_t token) {
  if (token == kWakeToken) return platform::ClearBell(wake_.poll_fd.get());
  const uint64_t first_token = token - (token - 1) % kTokensPerWorker;
  for (const std::unique_ptr<WorkerGroup>& group : groups_) {
    SupervisedWorker* worker = group->FindByToken(first_token);
    if (worker == nullptr) continue;
    switch ((token - 1) % kTokensPerWorker) {
      case 0:
        return worker->OnControl();
      case 1:
        return worker->OnOutput();
      default:
        return worker->OnExit();
    }
  }
}

int64_t Supervisor::NextTimeoutNs() const {
  const int64_t now_ns = services_.clock->NowNs();
  int64_t next_ns = next_tick_ns_;
  for (const std::unique_ptr<WorkerGroup>& group : groups_) {
    next_ns = std::min(next_ns, group->NextNs(now_ns));
  }
  return std::max<int64_t>(0, next_ns - now_ns);
}

void Supervisor::Tick() {
  const int64_t now_ns = services_.clock->NowNs();
  services_.own_time.Advance(now_ns);
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

// What other threads have asked for.
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
    groups_.push_back(std::make_unique<WorkerGroup>(std::move(model), &services_));
  }
  for (const std::shared_ptr<ServedModel>& model : retired) {
    if (WorkerGroup* group = Find(model.get())) group->Retire();
  }
  KillCondemned(condemned);
}

WorkerGroup* Supervisor::Find(const ServedModel* model) {
  for (const std::unique_ptr<WorkerGroup>& group : groups_) {
    if (group->served() == model) return group.get();
  }
  return nullptr;
}

void Supervisor::KillCondemned(const std::vector<Sentence>& condemned) {
  for (const Sentence& sentence : condemned) {
    WorkerGroup* group = Find(sentence.model);
    SupervisedWorker* worker = group == nullptr ? nullptr : group->Find(sentence.worker);
    if (worker == nullptr || worker->epoch() != sentence.epoch) continue;
    worker->GiveUp(WorkerExit::kProtocol, sentence.reason);
  }
}

// Asks all workers to go by closing their sockets, then makes them.
void Supervisor::EndAll() {
  for (const std::unique_ptr<WorkerGroup>& group : groups_) group->Dismiss();
  const auto ended = [this] {
    const auto gone = [](const auto& worker) { return !worker->has_process(); };
    return std::all_of(groups_.begin(), groups_.end(), [&gone](const auto& group) {
      return std::all_of(group->workers().begin(), group->workers().end(), gone);
    });
  };
  const int64_t until_ns = services_.clock->NowNs() + kStopGraceNs;
  while (!ended() && services_.clock->NowNs() < until_ns) {
    const std::vector<uint64_t> tokens = services_.poller.Wait(5 * kNsPerMs);
    for (const uint64_t token : tokens) Handle(token);
  }
  for (const std::unique_ptr<WorkerGroup>& group : groups_) {
    for (const auto& worker : group->workers()) worker->EndNow();
  }
}

}  // namespace mpsd
