#include "server/supervise/supervised_worker.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <deque>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "proto/base/backoff_policy.h"
#include "proto/base/check.h"
#include "proto/base/core_binding.h"
#include "proto/base/failpoint.h"
#include "server/pool/pool_memory.h"
#include "server/pool/pool_workers.h"
#include "server/supervise/policy/device_health_policy.h"
#include "server/supervise/policy/recycle_policy.h"

namespace mpsd {
namespace {

// A worker that has hung up, or was asked to go, should leave within this time.
constexpr int64_t kLeaveNs = kNsPerSecond;
constexpr int kLastReads = 16;

std::string Text(int64_t duration_ns) {
  return absl::FormatDuration(absl::Nanoseconds(duration_ns));
}

const char* StartsAgainText(bool failure_lasts, bool leaving) {
  if (leaving) return "no";
  return failure_lasts ? "after a reload" : "yes";
}

uint64_t TakeTokens(SuperviseServices* services) {
  services->thread.Check();
  return services->TakeTokens();
}

}  // namespace

SupervisedWorker::SupervisedWorker(WorkerOwner* owner, uint32_t index, uint32_t epoch,
                                   DeviceShare share, SuperviseServices* services)
    : owner_(owner),
      services_(services),
      index_(index),
      share_(std::move(share)),
      first_token_(TakeTokens(services)),
      jitter_(services->jitter()),
      epoch_(epoch),
      output_(services->clock->NowNs()) {
  note_.info.index = index;
  note_.info.lanes = owner->model().order.lanes;
  note_.info.device = share_.device;
  Publish();
}

SupervisedWorker::~SupervisedWorker() { MPSD_CHECK(run_ == nullptr); }

void SupervisedWorker::MoveTo(WorkerState state) {
  MPSD_CHECK(MayFollow(state_, state));
  MPSD_CHECK((state == WorkerState::kWaiting) == (run_ == nullptr));
  if (state_ != WorkerState::kEnding) before_end_ = state_;
  state_ = state;
  if (run_ != nullptr) run_->phase_since_own_ns = services_->own_time.now_ns();
  Publish();
}

// ---- its start ----

void SupervisedWorker::Start() {
  services_->thread.Check();
  MPSD_CHECK(state_ == WorkerState::kWaiting && !leaving_);
  const SupervisedModel& model = owner_->model();
  const int64_t now_ns = services_->clock->NowNs();
  ++epoch_;
  if (std::exchange(has_run_, true)) {
    ++note_.info.restarts;
    model.served->metrics.worker_restarts.fetch_add(1);
  }
  const CoreBinding near(share_.cores);
  auto process = services_->host->Spawn(
      {model.served->name, index_, model.order.threads, model.order.format}, first_token_);
  if (!process.ok()) return OnSpawnFailed(process.status());
  run_ = std::make_unique<Incarnation>(*std::move(process), now_ns, services_->own_time.now_ns());
  services_->memory_kills.Look(services_->host->OutOfMemoryKills(), now_ns);
  note_.info.pid = run_->process->pid();
  note_.info.epoch = epoch_;
  note_.started_ns = now_ns;
  MoveTo(WorkerState::kLoading);
  LoadOrder order = model.order;
  order.epoch = epoch_;
  order.device = share_.device;
  order.memory_share_percent = share_.memory_percent;
  order.lanes = LanesToOrder();
  order.lanes_compared = lanes_compared_;
  order.precision = PrecisionToOrder();
  std::vector<int> fds;
  for (const UniqueFd& file : model.files) fds.push_back(file.get());
  if (absl::Status status = run_->process->Send(order, fds); !status.ok()) {
    GiveUp(WorkerExit::kProtocol, std::string(status.message()));
  }
}

void SupervisedWorker::OnSpawnFailed(const absl::Status& why) {
  ++failures_;
  start_at_ns_ = services_->clock->NowNs() + BackoffNs(failures_, services_->jitter());
  note_.info.last_words = std::string(why.message());
  services_->logger->Log(LogLevel::kError, "worker_not_started",
                         {{"model", served()->name}, {"reason", note_.info.last_words}});
  Publish();
  NoteOutcome(absl::UnavailableError("its worker cannot be started; the log says why"));
}

void SupervisedWorker::Wait(const std::string& reason) {
  services_->thread.Check();
  MPSD_CHECK(state_ == WorkerState::kWaiting);
  if (note_.info.last_words == reason) return;
  note_.info.last_words = reason;
  Publish();
  NoteOutcome(absl::UnavailableError(reason));
}

void SupervisedWorker::StartAfterAll() {
  services_->thread.Check();
  if (!failed()) return;
  start_at_ns_ = services_->clock->NowNs() + BackoffNs(failures_, services_->jitter());
  Publish();
}

void SupervisedWorker::OnLoadReport(const LoadReport& report) {
  run_->loaded = true;
  run_->weight_bytes = report.weight_bytes;
  const absl::Status status = owner_->OnLoaded(this, report);
  if (!status.ok()) GiveUpLoaded(status);
}

void SupervisedWorker::GiveUpLoaded(const absl::Status& why) {
  services_->thread.Check();
  run_->failure_lasts = absl::IsInvalidArgument(why);
  GiveUp(WorkerExit::kLoad, std::string(why.message()));
}

absl::Status SupervisedWorker::AskForWeights(int memory) {
  services_->thread.Check();
  MPSD_CHECK(state_ == WorkerState::kLoading && run_->loaded && run_->link == nullptr);
  run_->weights = WeightsStep::kAsked;
  run_->phase_since_own_ns = services_->own_time.now_ns();  // it may have waited for another
  if (memory < 0) return run_->process->Send(ShareWeights{}, {});
  return run_->process->Send(UseWeights{}, {memory});
}

void SupervisedWorker::WaitForWeights() {
  services_->thread.Check();
  MPSD_CHECK(state_ == WorkerState::kLoading && run_->loaded && run_->link == nullptr);
  run_->weights = WeightsStep::kWaits;
}

uint32_t SupervisedWorker::LanesToOrder() const {
  return crashed_at_load_ ? 1 : owner_->model().order.lanes;
}

// The first worker that has loaded the model decides for all, so that equal requests have equal
// answers. A trial that crashed is not repeated.
Precision SupervisedWorker::PrecisionToOrder() const {
  const Precision told = owner_->model().order.precision;
  if (told != Precision::kAuto) return told;
  if (served()->loaded) return served()->precision;
  return crashed_at_load_ ? Precision::kFp32 : told;
}

void SupervisedWorker::TakeLanes(const LoadReport& report) {
  services_->thread.Check();
  MPSD_CHECK(state_ == WorkerState::kLoading && run_->link == nullptr);
  const uint32_t ordered = owner_->model().order.lanes;
  const uint32_t asked = LanesToOrder();
  note_.info.lanes = report.lanes > 0 ? std::min(report.lanes, asked) : asked;
  lanes_compared_ = note_.info.lanes == ordered;
  if (lanes_compared_) return;
  const std::string reason =
      crashed_at_load_ ? "it crashed before it had compared its lanes" : Printable(report.demotion);
  served()->metrics.lane_demotions.fetch_add(1);
  services_->logger->Log(LogLevel::kWarn, "lanes_demoted",
                         {{"model", served()->name},
                          {"worker", index_},
                          {"lanes", note_.info.lanes},
                          {"ordered", ordered},
                          {"reason", reason}});
}

// If memory is short, a worker that should hold several large answers gets room for one. It serves
// without room for any rather than not at all.
absl::Status SupervisedWorker::TakeMemory(WorkerLink::Options* options) {
  const std::string what = absl::StrCat("a worker of model '", served()->name, "'");
  const auto options_of = [this](AreaKind kind) {
    WorkerLink::Options made =
        pool()->workers()->LinkOptions(index_, epoch_, note_.info.lanes, kind);
    made.device = OneNameOf(share_.device);
    return made;
  };
  *options = options_of(AreaKind::kUsual);
  const WorkerLink::Options lean = options_of(AreaKind::kLean);
  const bool has_choice = lean.outputs.bytes < options->outputs.bytes;
  const uint64_t bytes = WorkerLink::SharedBytes(*options);
  if (!has_choice) return owner_->TakeMemory(bytes, what);
  if (services_->budget->Take(bytes, what).ok()) return absl::OkStatus();
  *options = lean;
  if (services_->budget->Take(WorkerLink::SharedBytes(lean), what).ok()) return absl::OkStatus();
  pool()->workers()->KeepSize(services_->clock->NowNs() + kReplacementRetryNs);
  *options = options_of(AreaKind::kUsual);
  return owner_->TakeMemory(WorkerLink::SharedBytes(*options), what);
}

absl::Status SupervisedWorker::AttachSegments() {
  services_->thread.Check();
  MPSD_CHECK(state_ == WorkerState::kLoading && run_->link == nullptr);
  WorkerLink::Options options;
  absl::Status status = TakeMemory(&options);
  if (!status.ok()) return status;
  const uint64_t bytes = WorkerLink::SharedBytes(options);
  const CoreBinding near(share_.cores);
  absl::StatusOr<std::shared_ptr<WorkerLink>> link = WorkerLink::Create(options);
  if (!link.ok()) {
    services_->budget->GiveBack(bytes);
    return owner_->NoSharedMemory(link.status());
  }
  MPSD_FAILPOINT("supervise.attach");
  run_->link = *std::move(link);
  run_->link->HoldUntilUnmapped(services_->budget->Share(bytes));
  MoveTo(WorkerState::kWarming);
  status = SendAttachOrder();
  owner_->slabs()->Attach(run_->link.get(),
                          [this](const Message& message, absl::Span<const int> fds) {
                            return run_->process->Send(message, fds);
                          });
  return status;
}

absl::Status SupervisedWorker::SendAttachOrder() {
  const WorkerLink& link = *run_->link;
  const SlabSegment first = pool()->memory()->Descriptors().front();
  AttachOrder order;
  order.layout_hash = LayoutHash();
  order.mailbox_bytes = link.mailbox_segment().bytes();
  order.worker_segment_bytes = link.worker_segment().bytes();
  order.slab_segment_bytes.push_back(first.bytes);
  const std::vector<int> fds = {link.mailbox_segment().peer_fd(), link.worker_segment().peer_fd(),
                                link.bell().ring_fd.get(), first.fd};
  return run_->process->Send(order, fds);
}

void SupervisedWorker::Serve() {
  const auto give_up = [keeper = services_->keeper, model = served(), worker = index_,
                        epoch = epoch_] {
    keeper->Condemn(*model, worker, epoch, "it rings without end");
  };
  if (absl::Status status = services_->bells->Watch(run_->link, give_up); !status.ok()) {
    return GiveUp(WorkerExit::kLoad, std::string(status.message()));
  }
  const int64_t now_ns = services_->clock->NowNs();
  serving_since_ns_ = now_ns;
  fresh_bytes_ = resident_bytes();
  note_.info.last_words.clear();
  note_.info.slowness = 1;
  run_->lanes.assign(run_->link->lanes(), LaneWatch(services_->own_time.now_ns()));
  MoveTo(WorkerState::kServing);
  // The last thread to park after this Wake() also tells the new worker whether to ring.
  services_->plane->Wake();
  owner_->slabs()->Serve(run_->link.get());
  pool()->workers()->Attach(run_->link);
  while (!services_->plane->Park()) {
  }
  NoteOutcome(absl::OkStatus());
  services_->logger->Log(LogLevel::kInfo, "worker_ready",
                         {{"model", served()->name},
                          {"worker", index_},
                          {"pid", run_->process->pid()},
                          {"epoch", epoch_},
                          {"device", note_.info.device}});
  owner_->OnServing(this, now_ns - note_.started_ns);
}

// ---- what it says and writes ----

void SupervisedWorker::OnEvent(WorkerEvent event) {
  services_->thread.Check();
  if (run_ == nullptr) return;  // an event may be reported once more after the end
  switch (event) {
    case WorkerEvent::kControl:
      return OnControl();
    case WorkerEvent::kOutput:
      return OnOutput();
    case WorkerEvent::kExit:
      return OnExit();
  }
}

void SupervisedWorker::OnControl() {
  if (state_ == WorkerState::kEnding) return;
  if (!run_->control_reads.Take(services_->clock->NowNs())) {
    return GiveUp(WorkerExit::kProtocol, "it floods its control socket");
  }
  absl::StatusOr<MessageReader::Received> received = run_->process->Receive();
  if (received.ok()) return Take(*std::move(received));
  if (absl::IsOutOfRange(received.status())) return;
  if (!absl::IsUnavailable(received.status())) {
    return GiveUp(WorkerExit::kProtocol, std::string(received.status().message()));
  }
  // End of file: the worker has ended or is about to.
  pool()->workers()->Quiesce(index_);
  LeaveBy(services_->clock->NowNs() + kLeaveNs);
}

void SupervisedWorker::Take(MessageReader::Received received) {
  const Message& message = received.message;
  const bool loads = state_ == WorkerState::kLoading;
  if (const auto* failure = std::get_if<Failure>(&message)) return OnFailure(*failure);
  const auto* report = std::get_if<LoadReport>(&message);
  if (report != nullptr && loads && !run_->loaded) return OnLoadReport(*report);
  const auto* told = std::get_if<WeightsTold>(&message);
  if (told != nullptr && loads && run_->weights == WeightsStep::kAsked) {
    return TakeWeights(*told, std::move(received.fds));
  }
  const absl::Status status = TakeWhileAttached(message);
  if (!status.ok()) return GiveUp(WorkerExit::kProtocol, std::string(status.message()));
  const bool has_mapped_all = owner_->slabs()->HasMappedAll(run_->link.get());
  if (state_ == WorkerState::kWarming && run_->ready && has_mapped_all) Serve();
}

// Closes what came beside the first descriptor.
void SupervisedWorker::TakeWeights(const WeightsTold& told, std::vector<UniqueFd> fds) {
  run_->weights = WeightsStep::kNone;
  UniqueFd memory = fds.empty() ? UniqueFd() : std::move(fds.front());
  const absl::Status status = owner_->OnWeights(this, told, std::move(memory));
  if (!status.ok()) GiveUpLoaded(status);
}

absl::Status SupervisedWorker::TakeWhileAttached(const Message& message) {
  const absl::Status out_of_turn = absl::InvalidArgumentError("it sent a message out of turn");
  if (run_->link == nullptr) return out_of_turn;
  const auto* ready = std::get_if<Ready>(&message);
  if (ready == nullptr) return owner_->slabs()->Take(run_->link.get(), message);
  if (state_ != WorkerState::kWarming || run_->ready) return out_of_turn;
  run_->ready = true;
  NoteWarning(ready->warning);
  return absl::OkStatus();
}

void SupervisedWorker::NoteWarning(const std::string& warning) {
  note_.info.warning = warning.empty() ? "" : absl::StrCat("warm-up: ", Printable(warning));
  if (warning.empty()) return;
  services_->logger->Log(
      LogLevel::kWarn, "warm_up_refused",
      {{"model", served()->name}, {"worker", index_}, {"reason", Printable(warning)}});
}

void SupervisedWorker::OnFailure(const Failure& failure) {
  NoteFailure(failure);
  LeaveBy(services_->clock->NowNs() + kLeaveNs);
  NoteOutcome(absl::InternalError(note_.info.last_words));
}

void SupervisedWorker::NoteFailure(const Failure& failure) {
  note_.info.last_words = Printable(failure.text);
  output_.Keep(failure.text);
  NoteLastLines();
  run_->said_failure = true;
  run_->failure_lasts = failure.lasting;
}

// The exit may be reported before the last messages were read.
void SupervisedWorker::ReadLastMessages() {
  for (int i = 0; i < kLastReads && !run_->said_failure; ++i) {
    const absl::StatusOr<MessageReader::Received> received = run_->process->Receive();
    if (absl::IsOutOfRange(received.status())) continue;
    if (!received.ok()) return;
    const auto* failure = std::get_if<Failure>(&received->message);
    if (failure != nullptr) NoteFailure(*failure);
  }
}

void SupervisedWorker::OnOutput() {
  const bool allowed = run_->output_reads.Take(services_->clock->NowNs());
  return allowed ? ReadOutput() : run_->process->PauseOutput(true);
}

void SupervisedWorker::ReadOutput() {
  const int64_t now_ns = services_->clock->NowNs();
  const auto on_line = [this](const std::string& line) {
    services_->logger->Log(LogLevel::kInfo, "worker_output",
                           {{"model", served()->name},
                            {"worker", index_},
                            {"pid", run_->process->pid()},
                            {"line", line}});
  };
  const std::string bytes = run_->process->ReadOutput();
  output_.Take(bytes, now_ns, on_line);
  if (run_->process->output_ended()) output_.End(now_ns, on_line);
  NoteLastLines();
  const bool known = run_->said_failure || run_->verdict.has_value();
  const std::deque<std::string>& lines = output_.last_lines();
  if (!known && !bytes.empty() && !lines.empty()) note_.info.last_words = lines.back();
}

void SupervisedWorker::NoteLastLines() {
  const std::deque<std::string>& lines = output_.last_lines();
  note_.info.last_lines.assign(lines.begin(), lines.end());
}

void SupervisedWorker::LogDroppedLines() {
  const uint64_t dropped = output_.TakeDropped();
  if (dropped == 0) return;
  served()->metrics.worker_lines_dropped.fetch_add(dropped, std::memory_order_relaxed);
  services_->logger->Log(LogLevel::kWarn, "worker_output_dropped",
                         {{"model", served()->name},
                          {"worker", index_},
                          {"pid", run_->process->pid()},
                          {"lines", dropped}});
}

// ---- its budgets ----

void SupervisedWorker::Tick() {
  services_->thread.Check();
  if (run_ != nullptr && run_->exited) OnExit();
  if (run_ == nullptr) return;
  if (run_->kill_at_ns <= services_->clock->NowNs()) KillLate();
  NoteSending(run_->process->Flush());
  run_->process->PauseOutput(false);
  LogDroppedLines();
  CheckBudget();
  Publish();
}

// Logs the first of several errors in a row. If a wait does not end by itself, the budget of the
// worker's state ends it.
void SupervisedWorker::NoteSending(const absl::Status& status) {
  const bool had_failed = std::exchange(run_->send_failed, !status.ok());
  if (status.ok()) return;
  served()->metrics.worker_send_errors.fetch_add(1, std::memory_order_relaxed);
  if (had_failed) return;
  services_->logger->Log(LogLevel::kWarn, "worker_not_told",
                         {{"model", served()->name},
                          {"worker", index_},
                          {"pid", run_->process->pid()},
                          {"reason", std::string(status.message())}});
}

void SupervisedWorker::CheckBudget() {
  const SupervisionLimits& limits = owner_->model().limits;
  const int64_t phase_ns = services_->own_time.now_ns() - run_->phase_since_own_ns;
  const bool loads = state_ == WorkerState::kLoading && !waits_for_weights();
  if (loads && phase_ns > limits.load_timeout_ns) {
    return GiveUp(WorkerExit::kHang,
                  absl::StrCat("the model was not loaded within ", Text(limits.load_timeout_ns)));
  }
  if (state_ == WorkerState::kWarming && phase_ns > limits.warmup_timeout_ns) {
    return GiveUp(WorkerExit::kHang,
                  absl::StrCat("the lanes were not warm within ", Text(limits.warmup_timeout_ns)));
  }
  if (state_ == WorkerState::kServing || state_ == WorkerState::kDraining) CheckLanes();
}

void SupervisedWorker::CheckLanes() {
  const WorkerProgress progress = pool()->workers()->Progress(index_);
  run_->answers = progress.requests > run_->requests;
  run_->requests = progress.requests;
  NoteSlowness(progress.slowness);
  const int64_t own_ns = services_->own_time.now_ns();
  const int64_t run_budget_ns =
      RunBudgetNs(owner_->model().limits.run_timeout_ns, served()->metrics.execute);
  MPSD_CHECK(progress.lanes.size() == run_->lanes.size());
  const auto stopped = [this] { return run_->process->Stopped(); };
  run_->is_silent = false;
  for (size_t lane = 0; lane < progress.lanes.size(); ++lane) {
    const LaneProgress& seen = progress.lanes[lane];
    const int64_t silent_ns = run_->lanes[lane].SilentNs(seen, own_ns);
    run_->is_silent = run_->is_silent || IsSilent(silent_ns, seen.inflight == 0, stopped);
    const int64_t budget_ns = seen.inflight > 0 ? run_budget_ns : kIdleBudgetNs;
    if (silent_ns <= budget_ns) continue;
    return GiveUp(WorkerExit::kHang,
                  absl::StrCat("lane ", lane, " made no progress for ", Text(budget_ns)));
  }
  run_->holds_up = run_->is_silent && progress.can_move && stopped();
  if (state_ == WorkerState::kDraining && progress.inflight == 0) Dismiss();
}

// The pool compares its workers. The log says when one becomes slow, and when that ends.
void SupervisedWorker::NoteSlowness(double slowness) {
  const double before = std::exchange(note_.info.slowness, slowness);
  if (slowness == before) return;
  Publish();
  const bool is_slow = slowness > 1;
  if (is_slow == (before > 1)) return;
  services_->logger->Log(is_slow ? LogLevel::kWarn : LogLevel::kInfo,
                         is_slow ? "worker_slow" : "worker_not_slow",
                         {{"model", served()->name},
                          {"worker", index_},
                          {"pid", run_->process->pid()},
                          {"slowness", slowness}});
}

void SupervisedWorker::KillLate() {
  run_->kill_at_ns = INT64_MAX;
  if (!run_->verdict.has_value()) {
    run_->verdict = {run_->said_failure ? WorkerExit::kLoad : WorkerExit::kProtocol,
                     "it hung up and did not leave"};
  }
  run_->process->Kill();
}

// ---- its end ----

// Asks the process to go by closing its control socket.
void SupervisedWorker::LeaveBy(int64_t kill_at_ns) {
  run_->process->Hang();
  run_->kill_at_ns = std::min(run_->kill_at_ns, kill_at_ns);
  if (state_ != WorkerState::kEnding) MoveTo(WorkerState::kEnding);
}

void SupervisedWorker::Drain() {
  services_->thread.Check();
  leaving_ = true;
  pool()->workers()->Quiesce(index_);
  MoveTo(WorkerState::kDraining);
}

void SupervisedWorker::Dismiss() {
  services_->thread.Check();
  leaving_ = true;
  if (run_ == nullptr) return;
  if (!run_->verdict.has_value()) run_->verdict = {WorkerExit::kAsked, "it is not needed any more"};
  LeaveBy(services_->clock->NowNs() + kLeaveNs);
}

void SupervisedWorker::GiveUp(WorkerExit exit, const std::string& why) {
  services_->thread.Check();
  if (run_ == nullptr) return;
  const std::string reason = Printable(why);
  note_.info.last_words = reason;
  if (!run_->verdict.has_value()) run_->verdict = {exit, reason};
  services_->logger->Log(LogLevel::kError, "worker_killed",
                         {{"model", served()->name},
                          {"worker", index_},
                          {"pid", run_->process->pid()},
                          {"exit_reason", WorkerExitName(run_->verdict->exit)},
                          {"reason", reason}});
  run_->was_stopped = run_->process->Stopped();
  run_->process->Kill();
  LeaveBy(INT64_MAX);
  NoteOutcome(absl::InternalError(reason));
}

void SupervisedWorker::EndNow() {
  services_->thread.Check();
  if (run_ == nullptr) return;
  run_->process->Kill();
  Ended(run_->process->Reap(/*wait=*/true));
}

// On macOS an exit is reported once, perhaps before the process is a zombie: ticks ask again.
void SupervisedWorker::OnExit() {
  const int wait_status = run_->process->Reap(/*wait=*/false);
  run_->exited = wait_status < 0;
  if (wait_status >= 0) Ended(wait_status);
}

// Whether no worker of the model came further than this one. If one did, the file or the device may
// have changed since, and may change back.
bool SupervisedWorker::NothingWentBetter() const {
  if (before_end_ == WorkerState::kWarming) return epoch_ == 1 && !served()->ready;
  return !served()->loaded;
}

// Counts the death before any request ends, so that a client that hears of the death finds it
// counted. The requests come before the output, which may be long.
void SupervisedWorker::Ended(int wait_status) {
  const int64_t seen_ns = services_->clock->NowNs();
  MPSD_FAILPOINT("supervise.reap");
  ReadLastMessages();
  WorkerDeath death;
  death.reason = ReasonOf(wait_status);
  served()->metrics.worker_exits[static_cast<size_t>(death.reason.exit)].fetch_add(1);
  death.conviction = DetachFromPool(death.reason);
  const int64_t moved_ns = services_->clock->NowNs() - seen_ns;
  for (int i = 0; i < kLastReads && !run_->process->output_ended(); ++i) ReadOutput();
  LogDroppedLines();
  if (state_ != WorkerState::kEnding) before_end_ = state_;
  run_->failure_lasts = run_->failure_lasts && NothingWentBetter();
  LogDeath(death.reason, moved_ns);
  // Between its order and its report a worker loads its model and compares its lanes. A fault of
  // the model itself recurs with one lane.
  const bool at_load = before_end_ == WorkerState::kLoading;
  if (at_load && death.reason.exit == WorkerExit::kSignal) crashed_at_load_ = true;
  // Lanes that disturb each other may have caused it.
  if (death.reason.end == WorkerEnd::kCrashed) lanes_compared_ = false;
  LogConviction(death.conviction);
  const int64_t now_ns = services_->clock->NowNs();
  death.served_well = serving_since_ns_ > 0 && now_ns - serving_since_ns_ > kGoodServiceNs;
  failures_ = death.served_well ? 1 : failures_ + 1;
  death.lasting = run_->failure_lasts;
  const int64_t rest_ns = BackoffNs(failures_, services_->jitter());
  start_at_ns_ = death.lasting ? INT64_MAX : now_ns + rest_ns;
  serving_since_ns_ = 0;
  const std::string words =
      run_->said_failure ? note_.info.last_words : absl::StrCat("it died: ", death.reason.text);
  run_.reset();
  note_.info.pid = 0;
  note_.info.last_exit = death.reason.text;
  note_.info.exit_reason = WorkerExitName(death.reason.exit);
  MoveTo(WorkerState::kWaiting);
  NoteOutcome(failed() ? absl::FailedPreconditionError(words) : absl::InternalError(words));
  owner_->OnDeath(this, death);
}

ExitReason SupervisedWorker::ReasonOf(int wait_status) {
  ExitFacts facts;
  facts.wait_status = wait_status;
  facts.verdict = run_->verdict;
  facts.said_failure = run_->said_failure;
  facts.was_stopped = run_->was_stopped;
  facts.memory_was_short = MemoryWasShort(wait_status);
  return DescribeExit(facts);
}

bool SupervisedWorker::MemoryWasShort(int wait_status) {
  const bool killed = WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL;
  if (!killed || run_->verdict.has_value()) return false;
  return services_->memory_kills.Explains(services_->host->OutOfMemoryKills(),
                                          services_->clock->NowNs());
}

// Returns what the death was put down to.
Conviction SupervisedWorker::DetachFromPool(const ExitReason& reason) {
  if (run_->link == nullptr) return Conviction::kNone;
  services_->bells->Unwatch(*run_->link);
  const Conviction conviction = pool()->workers()->Detach(index_, reason.end);
  owner_->slabs()->Detach(run_->link.get());
  return conviction;
}

void SupervisedWorker::LogConviction(Conviction conviction) {
  if (conviction < Conviction::kRequest) return;
  if (conviction == Conviction::kRequest) {
    services_->logger->Log(LogLevel::kWarn, "request_crashed_workers",
                           {{"model", served()->name}, {"worker", index_}});
    return;
  }
  services_->logger->Log(LogLevel::kWarn, "request_quarantined",
                         {{"model", served()->name},
                          {"worker", index_},
                          {"to_lift", absl::StrCat("mpsd forgive ", served()->name)}});
}

// `moved_ns` passed from the sight of the death until other workers had its requests.
void SupervisedWorker::LogDeath(const ExitReason& reason, int64_t moved_ns) {
  const bool asked = reason.exit == WorkerExit::kAsked;
  const bool lasts = run_->failure_lasts;
  // A healthy worker that goes with its daemon or generation is no news.
  const bool is_quiet = asked && leaving_ && !run_->said_failure;
  LogLevel level = lasts ? LogLevel::kError : LogLevel::kWarn;
  if (asked) level = is_quiet ? LogLevel::kDebug : LogLevel::kInfo;
  services_->logger->Log(level, is_quiet ? "worker_ended" : "worker_died",
                         {{"model", served()->name},
                          {"worker", index_},
                          {"pid", run_->process->pid()},
                          {"epoch", epoch_},
                          {"device", note_.info.device},
                          {"exit", reason.text},
                          {"exit_reason", WorkerExitName(reason.exit)},
                          {"while", WorkerStateName(before_end_)},
                          {"requests_moved_us", moved_ns / kNsPerUs},
                          {"last_words", note_.info.last_words},
                          {"starts_again", StartsAgainText(lasts, leaving_)}});
}

// ---- what others are told of it ----

uint64_t SupervisedWorker::resident_bytes() const {
  return run_ == nullptr ? 0 : run_->process->ResidentBytes();
}

void SupervisedWorker::NoteOutcome(const absl::Status& status) {
  served()->settled = true;
  services_->board->NoteOutcome(*served(), status);
}

void SupervisedWorker::Publish() {
  note_.info.state = failed() ? "failed" : WorkerStateName(state_);
  note_.serves = state_ == WorkerState::kServing;
  note_.starts_at_ns =
      state_ == WorkerState::kWaiting && !leaving_ && !failed() ? start_at_ns_ : -1;
  services_->board->Publish(*served(), note_);
}

}  // namespace mpsd
