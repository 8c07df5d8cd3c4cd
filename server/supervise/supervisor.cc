#include "server/supervise/supervisor.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "server/batch/slab_sizing.h"
#include "server/supervise/backoff_policy.h"
#include "server/supervise/exit_reason.h"
#include "server/supervise/servable_spec.h"

namespace mpsd {
namespace {

constexpr uint64_t kWakeToken = 0;
constexpr uint64_t kTokensPerWorker = 4;  // control, output, exit, bell
constexpr int64_t kBusyTickNs = 20 * kNsPerMs;
constexpr int64_t kIdleTickNs = 200 * kNsPerMs;
// A worker that has hung up, or said that it cannot serve, leaves by itself within this.
constexpr int64_t kLeaveNs = kNsPerSecond;
constexpr int kLastReads = 8;
constexpr int64_t kStopGraceNs = 300 * kNsPerMs;
// A completion this old that nobody rang for was missed, not just not yet rung.
constexpr int64_t kMissedNs = 5 * kNsPerMs;

const char* const kStateNames[] = {"waiting to start", "loading", "warming up", "serving"};

}  // namespace

Supervisor::Supervisor(SupervisorOptions options, Plane* plane, const Clock* clock, Logger* logger)
    : options_(std::move(options)),
      plane_(plane),
      clock_(clock),
      logger_(logger),
      budget_(options_.shared_memory_bytes) {}

Supervisor::~Supervisor() { Stop(); }

void Supervisor::Add(SupervisedModel model) {
  // Of the generation before and of this one, while both have workers.
  model.served->metrics.workers_configured.fetch_add(model.processes);
  auto added = std::make_shared<SupervisedModel>(std::move(model));
  plane_->Add(added->pool);
  absl::MutexLock lock(&mu_);
  settled_[added->served.get()] = std::nullopt;
  std::vector<WorkerInfo>& workers = published_[added->served.get()];
  workers.resize(added->processes);
  for (uint32_t i = 0; i < added->processes; ++i) {
    workers[i].index = i;
    workers[i].lanes = added->order.lanes;
  }
  added_.push_back(std::move(added));
  RingWake();
}

void Supervisor::Retire(const std::shared_ptr<ServedModel>& model) {
  static_cast<Pool*>(model->queue.get())->Close();
  absl::MutexLock lock(&mu_);
  retired_.push_back(model);
  RingWake();
}

absl::Status Supervisor::Start() {
  absl::StatusOr<platform::Bell> bell = platform::CreateBell();
  if (!bell.ok()) return bell.status();
  absl::StatusOr<platform::Poller> poller = platform::Poller::Create();
  if (!poller.ok()) return poller.status();
  wake_ = *std::move(bell);
  poller_ = *std::move(poller);
  if (absl::Status status = poller_.AddReadable(wake_.poll_fd.get(), kWakeToken); !status.ok()) {
    return status;
  }
  thread_ = std::thread([this] { Main(); });
  return absl::OkStatus();
}

absl::Status Supervisor::WaitUntilSettled(const std::function<bool()>& give_up) {
  while (!give_up()) {
    absl::MutexLock lock(&mu_);
    const auto all_settled = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      const auto settled = [](const auto& model) { return model.second.has_value(); };
      return !memory_status_.ok() || std::all_of(settled_.begin(), settled_.end(), settled);
    };
    if (mu_.AwaitWithTimeout(absl::Condition(&all_settled), absl::Milliseconds(100))) {
      return memory_status_;
    }
  }
  return absl::OkStatus();
}

absl::Status Supervisor::WaitUntilServing(const ServedModel& model,
                                          const std::function<bool()>& give_up) {
  while (!give_up()) {
    absl::MutexLock lock(&mu_);
    const std::optional<absl::Status>& status = settled_[&model];
    const auto settled = [&status] { return status.has_value(); };
    if (mu_.AwaitWithTimeout(absl::Condition(&settled), absl::Milliseconds(100))) return *status;
  }
  return absl::CancelledError("nobody waits for the model any more");
}

void Supervisor::Stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  platform::RingBell(wake_.ring_fd.get());
  thread_.join();
}

void Supervisor::Condemn(const ServedModel& model, uint32_t worker, uint32_t epoch,
                         const std::string& reason) {
  absl::MutexLock lock(&mu_);
  condemned_.push_back({&model, worker, epoch, reason});
  RingWake();
}

// Before Start() there is nobody to wake.
void Supervisor::RingWake() {
  if (wake_.ring_fd.valid()) platform::RingBell(wake_.ring_fd.get());
}

void Supervisor::WakeBy(int64_t when_ns) {
  int64_t known_ns = wake_by_ns_.load();
  while (when_ns < known_ns && !wake_by_ns_.compare_exchange_weak(known_ns, when_ns)) {
  }
  if (when_ns < known_ns) RingWake();
}

std::vector<WorkerInfo> Supervisor::Workers(const ServedModel& model) const {
  absl::MutexLock lock(&mu_);
  const auto found = published_.find(&model);
  if (found == published_.end()) return {};
  std::vector<WorkerInfo> workers = found->second;
  for (WorkerInfo& info : workers) {
    if (info.pid == 0) continue;
    info.resident_bytes = platform::ResidentMemoryBytes(static_cast<pid_t>(info.pid));
    info.uptime_ms = clock_->NowNs() / kNsPerMs - info.uptime_ms;
  }
  return workers;
}

// ---- the thread ----

void Supervisor::Main() {
  platform::NameThread("supervisor");
  plane_->Wake();
  while (!stopping_) {
    TakeAdded();
    EndRetired();
    HandleTimers();
    KillCondemned();
    if (plane_->Drain() > 0) continue;
    if (plane_->Park()) Wait();
  }
  KillAll();
  plane_->Park();
}

// Sleeps, and handles what ended the sleep. The plane is awake again afterwards.
void Supervisor::Wait() {
  // The tokens are copied: handling one may remove another's descriptor.
  const std::vector<uint64_t> tokens = poller_.Wait(NextTimeoutNs());
  plane_->Wake();
  if (tokens.empty()) plane_->DrainSince(clock_->NowNs() - kMissedNs);
  for (const uint64_t token : tokens) Handle(token);
}

void Supervisor::Handle(uint64_t token) {
  if (token == kWakeToken) {
    platform::ClearBell(wake_.poll_fd.get());
    return;
  }
  const uint64_t first_token = token - (token - 1) % kTokensPerWorker;
  const auto found = std::find_if(workers_.begin(), workers_.end(), [=](const auto& candidate) {
    return candidate->first_token == first_token;
  });
  if (found == workers_.end()) return;  // it was forgotten since the token was reported
  Worker* worker = found->get();
  switch ((token - 1) % kTokensPerWorker) {
    case 0:
      return ReadControl(worker);
    case 1:
      return ReadOutput(worker);
    case 2:
      return ReadExit(worker);
    default:
      if (worker->link != nullptr) platform::ClearBell(worker->link->bell().poll_fd.get());
  }
}

int64_t Supervisor::NextTimeoutNs() const {
  int64_t next_ns = std::min(next_tick_ns_, wake_by_ns_.load());
  for (const std::unique_ptr<Worker>& worker : workers_) {
    if (worker->process == nullptr) next_ns = std::min(next_ns, worker->start_at_ns);
  }
  return std::max<int64_t>(0, next_ns - clock_->NowNs());
}

void Supervisor::HandleTimers() {
  const int64_t now_ns = clock_->NowNs();
  for (const std::unique_ptr<Worker>& worker : workers_) {
    if (worker->process == nullptr && worker->start_at_ns <= now_ns) StartWorker(worker.get());
    if (worker->process != nullptr && worker->kill_at_ns <= now_ns) worker->process->Kill();
  }
  if (now_ns < std::min(next_tick_ns_, wake_by_ns_.load())) return;
  wake_by_ns_ = INT64_MAX;
  plane_->Tick();
  TickSlabs();
  next_tick_ns_ = now_ns + (plane_->inside() > 0 ? kBusyTickNs : kIdleTickNs);
}

// ---- models come and go ----

void Supervisor::TakeAdded() {
  std::vector<std::shared_ptr<SupervisedModel>> added;
  {
    absl::MutexLock lock(&mu_);
    added.swap(added_);
  }
  for (const std::shared_ptr<SupervisedModel>& model : added) {
    for (uint32_t i = 0; i < model->processes; ++i) {
      auto worker = std::make_unique<Worker>();
      worker->model = model;
      worker->index = i;
      worker->first_token = next_token_;
      next_token_ += kTokensPerWorker;
      worker->info.index = i;
      worker->info.lanes = model->order.lanes;
      workers_.push_back(std::move(worker));
    }
  }
}

// A retired model whose last request has ended: its workers go, then it does.
void Supervisor::EndRetired() {
  std::vector<std::shared_ptr<ServedModel>> retired;
  {
    absl::MutexLock lock(&mu_);
    retired = retired_;
  }
  for (const std::shared_ptr<ServedModel>& model : retired) {
    auto* pool = static_cast<Pool*>(model->queue.get());
    if (pool->inside() > 0) continue;
    const auto is_its = [&model](const auto& worker) { return worker->model->served == model; };
    for (const std::unique_ptr<Worker>& worker : workers_) {
      if (is_its(worker)) Dismiss(worker.get());
    }
    std::erase_if(workers_,
                  [&](const auto& worker) { return is_its(worker) && worker->process == nullptr; });
    if (std::any_of(workers_.begin(), workers_.end(), is_its)) continue;
    plane_->Remove(pool);
    Forget(*model);
  }
}

// Asks a worker to go that is not needed any more, and makes it if it does not.
void Supervisor::Dismiss(Worker* worker) {
  worker->start_at_ns = INT64_MAX;
  if (worker->process == nullptr || worker->kill_at_ns != INT64_MAX) return;
  worker->process->Hang();
  worker->kill_at_ns = clock_->NowNs() + kLeaveNs;
}

void Supervisor::Forget(const ServedModel& model) {
  budget_.GiveBack(static_cast<Pool*>(model.queue.get())->SlabBytes());
  absl::MutexLock lock(&mu_);
  model.metrics.workers_configured.fetch_sub(static_cast<int64_t>(published_[&model].size()));
  published_.erase(&model);
  settled_.erase(&model);
  std::erase_if(added_, [&model](const auto& added) { return added->served.get() == &model; });
  std::erase_if(condemned_, [&model](const Sentence& s) { return s.model == &model; });
  std::erase_if(retired_, [&model](const auto& retired) { return retired.get() == &model; });
}

// ---- a worker's life ----

void Supervisor::StartWorker(Worker* worker) {
  const SupervisedModel& model = *worker->model;
  WorkerProcessOptions options;
  options.binary = options_.worker_binary;
  options.temporary_folder =
      absl::StrCat(options_.temporary_folder, "/", model.served->name, "-", worker->first_token);
  options.threads = model.order.threads;
  auto process = WorkerProcess::Spawn(options, &poller_, worker->first_token);
  ++worker->epoch;
  worker->info.restarts = worker->epoch - 1;
  if (worker->epoch > 1) model.served->metrics.worker_restarts.fetch_add(1);
  absl::Status status = process.status();
  if (status.ok()) {
    worker->process = *std::move(process);
    LoadOrder order = model.order;
    order.epoch = worker->epoch;
    status = worker->process->Send(order);
  }
  if (!status.ok()) {
    ++worker->failures;
    worker->start_at_ns = clock_->NowNs() + BackoffNs(worker->failures + 1, 0);
    worker->info.last_words = std::string(status.message());
    if (worker->process != nullptr) worker->process->Kill();
    Settle(*worker, status);
    logger_->Log(LogLevel::kError, "worker_not_started",
                 {{"model", model.served->name}, {"reason", worker->info.last_words}});
    return;
  }
  worker->state = State::kLoading;
  worker->kill_at_ns = INT64_MAX;
  worker->info.pid = worker->process->pid();
  worker->info.epoch = worker->epoch;
  worker->info.uptime_ms = clock_->NowNs() / kNsPerMs;  // the start, until it is asked for
  Publish(worker);
}

void Supervisor::ReadControl(Worker* worker) {
  if (worker->process == nullptr) return;
  absl::StatusOr<MessageReader::Received> received = worker->process->Receive();
  if (received.ok()) return Take(worker, *std::move(received));
  if (absl::IsOutOfRange(received.status())) return;
  // End of file: it has ended or is ending. Anything else: it does not keep to the protocol.
  if (absl::IsUnavailable(received.status())) {
    worker->process->Hang();
    worker->kill_at_ns = clock_->NowNs() + kLeaveNs;
  } else {
    GiveUp(worker, std::string(received.status().message()));
  }
}

void Supervisor::Take(Worker* worker, MessageReader::Received received) {
  if (const auto* failure = std::get_if<Failure>(&received.message)) {
    worker->info.last_words = failure->text;
    Settle(*worker, absl::InternalError(failure->text));
    worker->kill_at_ns = clock_->NowNs() + kLeaveNs;
    return;
  }
  const auto* report = std::get_if<LoadReport>(&received.message);
  absl::Status status = absl::InternalError("it sent a message out of turn");
  if (report != nullptr && worker->state == State::kLoading) {
    status = OnLoaded(worker, *report);
  } else if (std::holds_alternative<Ready>(received.message) && worker->state == State::kWarming) {
    worker->ready = true;
    status = absl::OkStatus();
  } else if (worker->link != nullptr) {
    status = worker->model->slabs->Take(worker->link.get(), received.message);
  }
  const bool may_serve = status.ok() && worker->ready && worker->state == State::kWarming;
  if (may_serve && worker->model->slabs->Settled(worker->link.get())) OnReady(worker);
  if (!status.ok()) GiveUp(worker, std::string(status.message()));
}

absl::Status Supervisor::OnLoaded(Worker* worker, const LoadReport& report) {
  ServedModel* served = worker->model->served.get();
  worker->info.device = report.device;
  if (!served->loaded) {
    if (absl::Status status = CompleteSpec(worker->model.get(), report); !status.ok())
      return status;
  } else if (!(report.spec == served->spec)) {
    return absl::FailedPreconditionError("the model file is not the one that is served");
  }
  return AttachSegments(worker);
}

// The first worker of a model says what the model takes; then the pool gets its memory.
absl::Status Supervisor::CompleteSpec(SupervisedModel* model, const LoadReport& report) {
  ServedModel* served = model->served.get();
  if (absl::Status status = CheckServable(report.spec); !status.ok()) return status;
  served->spec = report.spec;
  const uint64_t bytes = SlabSegmentBytes(served->spec, model->queue_requests, model->queue_bytes,
                                          platform::PageBytes());
  absl::Status status = TakeMemory(bytes, absl::StrCat("model '", served->name, "'"));
  if (!status.ok()) return status;
  absl::StatusOr<OwnedSegment> segment = OwnedSegment::Create(SegmentKind::kSlabs, bytes, 0);
  if (!segment.ok()) {
    budget_.GiveBack(bytes);
    return segment.status();
  }
  model->pool->AddSlabSegment(*std::move(segment));
  model->slabs = std::make_unique<SlabAnnouncer>(model->pool, &budget_, served->name);
  served->loaded = true;
  return absl::OkStatus();
}

// Also tells whoever waits for the start when the memory does not suffice.
absl::Status Supervisor::TakeMemory(uint64_t bytes, const std::string& what) {
  const absl::Status status = budget_.Take(bytes, what);
  if (status.ok()) return status;
  absl::MutexLock lock(&mu_);
  memory_status_ = status;
  return status;
}

absl::Status Supervisor::AttachSegments(Worker* worker) {
  const SupervisedModel* model = worker->model.get();
  const WorkerLink::Options options =
      model->pool->LinkOptions(worker->index, worker->epoch, model->order.lanes);
  const uint64_t bytes = WorkerLink::SharedBytes(options);
  absl::Status status =
      TakeMemory(bytes, absl::StrCat("a worker of model '", model->served->name, "'"));
  if (!status.ok()) return status;
  absl::StatusOr<std::shared_ptr<WorkerLink>> link = WorkerLink::Create(options);
  if (!link.ok()) {
    budget_.GiveBack(bytes);
    return link.status();
  }
  AttachOrder order;
  order.layout_hash = LayoutHash();
  order.mailbox_bytes = (*link)->mailbox_segment().bytes();
  order.worker_segment_bytes = (*link)->worker_segment().bytes();
  std::vector<int> fds = {(*link)->mailbox_segment().peer_fd(), (*link)->worker_segment().peer_fd(),
                          (*link)->bell().ring_fd.get()};
  const SlabSegment first = model->pool->SlabDescriptors().front();
  fds.push_back(first.fd);
  order.slab_segment_bytes.push_back(first.bytes);
  (*link)->HoldUntilUnmapped(budget_.Share(bytes));
  worker->link = *std::move(link);
  worker->state = State::kWarming;
  worker->ready = false;
  Publish(worker);
  status = worker->process->Send(order, fds);
  model->slabs->Attach(worker->link.get(),
                       [worker](const Message& message, absl::Span<const int> message_fds) {
                         return worker->process->Send(message, message_fds);
                       });
  return status;
}

void Supervisor::TickSlabs() {
  const auto find = [this](const WorkerLink* link) {
    const auto is_it = [link](const auto& worker) { return worker->link.get() == link; };
    return std::find_if(workers_.begin(), workers_.end(), is_it)->get();
  };
  const auto ready = [&find](const WorkerLink* link) { return find(link)->ready; };
  absl::flat_hash_set<const SupervisedModel*> ticked;
  for (const std::unique_ptr<Worker>& worker : workers_) {
    const std::shared_ptr<SupervisedModel>& model = worker->model;
    if (model->slabs == nullptr || !ticked.insert(model.get()).second) continue;
    for (const WorkerLink* link : model->slabs->Tick(ready)) {
      GiveUp(find(link), "it does not say what memory it has mapped");
    }
  }
}

void Supervisor::OnReady(Worker* worker) {
  const absl::Status status =
      poller_.AddReadable(worker->link->bell().poll_fd.get(), worker->first_token + 3);
  if (!status.ok()) return GiveUp(worker, std::string(status.message()));
  worker->state = State::kServing;
  worker->serving_since_ns = clock_->NowNs();
  worker->info.last_words.clear();
  Publish(worker);
  worker->model->pool->Attach(worker->link);
  Settle(*worker, absl::OkStatus());
  logger_->Log(LogLevel::kInfo, "worker_ready",
               {{"model", worker->model->served->name},
                {"worker", worker->index},
                {"pid", worker->process->pid()},
                {"epoch", worker->epoch},
                {"device", worker->info.device}});
}

void Supervisor::ReadOutput(Worker* worker) {
  if (worker->process == nullptr) return;
  worker->process->ReadOutput([this, worker](const std::string& line) {
    worker->info.last_words = line;
    logger_->Log(LogLevel::kInfo, "worker_output",
                 {{"model", worker->model->served->name},
                  {"worker", worker->index},
                  {"pid", worker->process->pid()},
                  {"line", line}});
  });
}

void Supervisor::ReadExit(Worker* worker) {
  if (worker->process == nullptr) return;
  const int wait_status = worker->process->Reap(/*wait=*/false);
  if (wait_status < 0) return;
  // What it wrote last may not have been read yet.
  for (int i = 0; i < kLastReads; ++i) ReadOutput(worker);
  const ExitReason reason = DescribeExit(wait_status);
  const int64_t now_ns = clock_->NowNs();
  const bool served_well =
      worker->state == State::kServing && now_ns - worker->serving_since_ns > kGoodServiceNs;
  worker->failures = served_well ? 1 : worker->failures + 1;
  worker->start_at_ns = now_ns + BackoffNs(worker->failures, absl::Uniform<double>(random_, 0, 1));
  worker->info.last_exit = reason.text;
  logger_->Log(LogLevel::kWarn, "worker_died",
               {{"model", worker->model->served->name},
                {"worker", worker->index},
                {"pid", worker->process->pid()},
                {"epoch", worker->epoch},
                {"exit", reason.text},
                {"while", kStateNames[static_cast<int>(worker->state)]},
                {"last_words", worker->info.last_words}});
  worker->process.reset();
  if (worker->link != nullptr) {
    poller_.RemoveReadable(worker->link->bell().poll_fd.get());
    worker->model->pool->Detach(worker->index, reason.end);
    worker->model->slabs->Detach(worker->link.get());
    worker->link.reset();
  }
  Settle(*worker, absl::InternalError(absl::StrCat("it died: ", reason.text)));
  worker->state = State::kWaiting;
  worker->info.pid = 0;
  Publish(worker);
}

void Supervisor::GiveUp(Worker* worker, const std::string& reason) {
  worker->info.last_words = reason;
  logger_->Log(LogLevel::kError, "worker_killed",
               {{"model", worker->model->served->name},
                {"worker", worker->index},
                {"pid", worker->process->pid()},
                {"reason", reason}});
  worker->process->Hang();
  worker->process->Kill();
  Settle(*worker, absl::InternalError(reason));
}

void Supervisor::KillCondemned() {
  decltype(condemned_) condemned;
  {
    absl::MutexLock lock(&mu_);
    condemned.swap(condemned_);
  }
  for (const Sentence& sentence : condemned) {
    for (const std::unique_ptr<Worker>& worker : workers_) {
      const bool is_it = worker->model->served.get() == sentence.model &&
                         worker->index == sentence.worker && worker->epoch == sentence.epoch;
      if (is_it && worker->process != nullptr) GiveUp(worker.get(), sentence.reason);
    }
  }
}

// Asks all workers to go by closing their sockets, then makes them.
void Supervisor::KillAll() {
  for (const std::unique_ptr<Worker>& worker : workers_) {
    if (worker->process != nullptr) worker->process->Hang();
  }
  const int64_t until_ns = clock_->NowNs() + kStopGraceNs;
  for (const std::unique_ptr<Worker>& worker : workers_) {
    if (worker->process == nullptr) continue;
    int wait_status = worker->process->Reap(/*wait=*/false);
    while (wait_status < 0 && clock_->NowNs() < until_ns) {
      poller_.Wait(5 * kNsPerMs);
      wait_status = worker->process->Reap(/*wait=*/false);
    }
    if (wait_status < 0) {
      worker->process->Kill();
      worker->process->Reap(/*wait=*/true);
    }
    if (worker->link != nullptr) worker->model->pool->Detach(worker->index, WorkerEnd::kKilled);
    worker->link.reset();
    worker->process.reset();
  }
}

void Supervisor::Publish(Worker* worker) {
  worker->info.state = kStateNames[static_cast<int>(worker->state)];
  absl::MutexLock lock(&mu_);
  published_[worker->model->served.get()][worker->index] = worker->info;
}

// The model serves, or has failed once: whoever waits for the start need not wait for it any more.
void Supervisor::Settle(const Worker& worker, const absl::Status& status) {
  const ServedModel* served = worker.model->served.get();
  absl::MutexLock lock(&mu_);
  std::optional<absl::Status>& settled = settled_[served];
  if (!settled.has_value()) settled = status;
  if (!status.ok()) published_[served][worker.index] = worker.info;
}

}  // namespace mpsd
