#include "server/supervise/supervised_worker.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <deque>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "proto/base/core_binding.h"
#include "proto/base/failpoint.h"
#include "server/pool/pool_memory.h"
#include "server/pool/pool_workers.h"
#include "server/supervise/policy/device_health_policy.h"
#include "server/supervise/policy/recycle_policy.h"

namespace mpsd {
namespace {

constexpr int kLastReads = 16;
constexpr char kOutOfTurn[] = "it sent a message out of turn";

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
      first_epoch_(epoch),
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

SupervisedWorker::~SupervisedWorker() { MPSD_CHECK(!run_.has_value()); }

LifeTime SupervisedWorker::Time() const {
  services_->thread.Check();
  return {services_->clock->NowNs(), services_->own_time.now_ns()};
}

void SupervisedWorker::Do(const LifeActions& actions) {
  services_->thread.Check();
  if (actions.quiesce) pool()->workers()->Quiesce(index_);
  if (actions.kill) run_->process->Kill();
  if (actions.hang) run_->process->Hang();
  Publish();
  if (actions.give_up.has_value()) GiveUp(actions.give_up->exit, actions.give_up->text);
}

// ---- its start ----

void SupervisedWorker::Start() {
  services_->thread.Check();
  MPSD_CHECK(state() == WorkerState::kWaiting && !life_.leaving());
  const SupervisedModel& model = owner_->model();
  const int64_t now_ns = services_->clock->NowNs();
  if (epoch_++ != first_epoch_) {
    ++note_.info.restarts;
    model.served->metrics.worker_restarts.fetch_add(1);
  }
  const CoreBinding near(share_.cores);
  auto process = services_->host->Spawn(
      {model.served->name, index_, model.order.threads, model.order.format}, first_token_);
  if (!process.ok()) return OnSpawnFailed(process.status());
  run_.emplace(Incarnation{*std::move(process), RateLimit(kControlReadsPerSecond, now_ns),
                           RateLimit(kOutputReadsPerSecond, now_ns)});
  services_->memory_kills.Look(services_->host->OutOfMemoryKills(), now_ns);
  note_.info.pid = run_->process->pid();
  note_.info.epoch = epoch_;
  note_.started_ns = now_ns;
  Do(life_.Spawn(Time()));
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
  life_.FailToSpawn(services_->jitter(), Time());
  note_.info.last_words = std::string(why.message());
  services_->logger->Log(LogLevel::kError, "worker_not_started",
                         {{"model", served()->name}, {"reason", note_.info.last_words}});
  Publish();
  NoteOutcome(absl::UnavailableError("its worker cannot be started; the log says why"));
}

void SupervisedWorker::Wait(const std::string& reason) {
  services_->thread.Check();
  MPSD_CHECK(state() == WorkerState::kWaiting);
  if (note_.info.last_words == reason) return;
  note_.info.last_words = reason;
  Publish();
  NoteOutcome(absl::UnavailableError(reason));
}

void SupervisedWorker::StartAfterAll() {
  if (life_.failed()) Do(life_.Rest(services_->jitter(), Time()));
}

void SupervisedWorker::GiveUpLoaded(const absl::Status& why) {
  GiveUp(WorkerExit::kLoad, std::string(why.message()), absl::IsInvalidArgument(why));
}

absl::Status SupervisedWorker::AskForWeights(int memory) {
  life_.GoOn(LoadStep::kAsked, Time());
  if (memory < 0) return run_->process->Send(ShareWeights{}, {});
  return run_->process->Send(UseWeights{}, {memory});
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
  MPSD_CHECK(state() == WorkerState::kLoading);
  const uint32_t ordered = owner_->model().order.lanes;
  const uint32_t asked = LanesToOrder();
  note_.info.lanes = report.lanes > 0 ? std::min(report.lanes, asked) : asked;
  lanes_compared_ = note_.info.lanes == ordered;
  if (lanes_compared_) return;
  const std::string reason =
      crashed_at_load_ ? "it crashed before it had compared its lanes" : Printable(report.demotion);
  served()->metrics.lane_demotions.fetch_add(1);
  Log(LogLevel::kWarn, "lanes_demoted", LogField("lanes", note_.info.lanes),
      LogField("ordered", ordered), LogField("reason", reason));
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
  MPSD_CHECK(state() == WorkerState::kLoading);
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
  Do(life_.Attach(Time()));
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
  const LifeTime time = Time();
  note_.info.last_words.clear();
  note_.info.slowness = 1;
  Do(life_.Serve(run_->link->lanes(), resident_bytes(), time));
  // The last thread to park after this Wake() also tells the new worker whether to ring.
  services_->plane->Wake();
  owner_->slabs()->Serve(run_->link.get());
  pool()->workers()->Attach(run_->link);
  while (!services_->plane->Park()) {
  }
  NoteOutcome(absl::OkStatus());
  Log(LogLevel::kInfo, "worker_ready", Pid(), LogField("epoch", epoch_),
      LogField("device", note_.info.device));
  owner_->OnServing(this, time.now_ns - note_.started_ns);
}

// ---- what it says and writes ----

void SupervisedWorker::OnEvent(WorkerEvent event) {
  services_->thread.Check();
  if (!run_.has_value()) return;  // an event may be reported once more after the end
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
  if (life_.ending() != nullptr) return;
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
  Do(life_.HangUp(Time()));
}

void SupervisedWorker::Take(MessageReader::Received received) {
  const Message& message = received.message;
  if (const auto* failure = std::get_if<Failure>(&message)) {
    Do(NoteFailure(*failure));
    return NoteOutcome(absl::InternalError(note_.info.last_words));
  }
  if (!life_.Expects(message)) return GiveUp(WorkerExit::kProtocol, kOutOfTurn);
  if (state() == WorkerState::kLoading) return TakeWhileLoading(std::move(received));
  SlabAnnouncer* slabs = owner_->slabs();
  if (const auto* ready = std::get_if<Ready>(&message)) {
    NoteReady(*ready);
  } else if (absl::Status status = slabs->Take(run_->link.get(), message); !status.ok()) {
    return GiveUp(WorkerExit::kProtocol, std::string(status.message()));
  }
  const bool is_warm = state() == WorkerState::kWarming && life_.ready();
  if (is_warm && slabs->HasMappedAll(run_->link.get())) Serve();
}

// It has loaded the model, or has answered AskForWeights(). The owner decides how it goes on.
void SupervisedWorker::TakeWhileLoading(MessageReader::Received received) {
  life_.GoOn(LoadStep::kReported, Time());
  absl::Status status;
  if (const auto* report = std::get_if<LoadReport>(&received.message)) {
    const WorkerRuntime& runtime = report->runtime;
    note_.info.device = Printable(report->device);
    note_.info.runtime = {Printable(runtime.name), Printable(runtime.kind), Printable(runtime.path),
                          runtime.driver_guard, runtime.input_memory};
    run_->weight_bytes = report->weight_bytes;
    status = owner_->OnLoaded(this, *report);
  } else {
    // Descriptors beside the first are closed.
    UniqueFd memory = received.fds.empty() ? UniqueFd() : std::move(received.fds.front());
    const auto& told = std::get<WeightsTold>(received.message);
    status = owner_->OnWeights(this, told, std::move(memory));
  }
  if (!status.ok()) GiveUpLoaded(status);
}

void SupervisedWorker::NoteReady(const Ready& ready) {
  life_.WarmUp();
  const std::string warning = Printable(ready.warning);
  note_.info.warning = warning.empty() ? "" : absl::StrCat("warm-up: ", warning);
  if (warning.empty()) return;
  Log(LogLevel::kWarn, "warm_up_refused", LogField("reason", warning));
}

LifeActions SupervisedWorker::NoteFailure(const Failure& failure) {
  note_.info.last_words = Printable(failure.text);
  output_.Keep(failure.text);
  NoteLastLines();
  return life_.Fail(failure.lasting, Time());
}

// The exit may be reported before the last messages were read.
void SupervisedWorker::ReadLastMessages() {
  for (int i = 0; i < kLastReads && !life_.ending()->facts.said_failure; ++i) {
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
    Log(LogLevel::kInfo, "worker_output", Pid(), LogField("line", line));
  };
  const std::string bytes = run_->process->ReadOutput();
  output_.Take(bytes, now_ns, on_line);
  if (run_->process->output_ended()) output_.End(now_ns, on_line);
  NoteLastLines();
  const WorkerLife::Ending* end = life_.ending();
  const bool known = end != nullptr && (end->facts.said_failure || end->facts.verdict.has_value());
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
  Log(LogLevel::kWarn, "worker_output_dropped", Pid(), LogField("lines", dropped));
}

// ---- its budgets ----

void SupervisedWorker::Tick() {
  services_->thread.Check();
  if (run_.has_value() && run_->exited) OnExit();
  if (!run_.has_value()) return;
  NoteSending(run_->process->Flush());
  run_->process->PauseOutput(false);
  LogDroppedLines();
  Do(life_.service() != nullptr ? LookAtLanes() : life_.Tick(owner_->model().limits, Time()));
}

// Logs the first of several errors in a row. If a wait does not end by itself, the budget of the
// worker's state ends it.
void SupervisedWorker::NoteSending(const absl::Status& status) {
  const bool had_failed = std::exchange(run_->send_failed, !status.ok());
  if (status.ok()) return;
  served()->metrics.worker_send_errors.fetch_add(1, std::memory_order_relaxed);
  if (had_failed) return;
  Log(LogLevel::kWarn, "worker_not_told", Pid(), LogField("reason", status.message()));
}

LifeActions SupervisedWorker::LookAtLanes() {
  const WorkerProgress progress = pool()->workers()->Progress(index_);
  NoteSlowness(progress.slowness);
  const int64_t run_budget_ns =
      RunBudgetNs(owner_->model().limits.run_timeout_ns, served()->metrics.execute);
  return life_.Look(progress, run_budget_ns, Time(), [this] { return run_->process->Stopped(); });
}

// The pool compares its workers. The log says when one becomes slow, and when that ends.
void SupervisedWorker::NoteSlowness(double slowness) {
  const double before = std::exchange(note_.info.slowness, slowness);
  if (slowness == before) return;
  Publish();
  const bool is_slow = slowness > 1;
  if (is_slow == (before > 1)) return;
  Log(is_slow ? LogLevel::kWarn : LogLevel::kInfo, is_slow ? "worker_slow" : "worker_not_slow",
      Pid(), LogField("slowness", slowness));
}

// ---- its end ----

void SupervisedWorker::Dismiss() {
  const LifeActions actions = life_.Dismiss(Time());
  if (run_.has_value()) Do(actions);
}

void SupervisedWorker::GiveUp(WorkerExit exit, const std::string& why, bool lasts) {
  services_->thread.Check();
  if (!run_.has_value()) return;
  const std::string reason = Printable(why);
  note_.info.last_words = reason;
  const LifeActions actions = life_.GiveUp({exit, reason}, run_->process->Stopped(), lasts);
  Log(LogLevel::kError, "worker_killed", Pid(),
      LogField("exit_reason", WorkerExitName(life_.ending()->facts.verdict->exit)),
      LogField("reason", reason));
  Do(actions);
  NoteOutcome(absl::InternalError(reason));
}

void SupervisedWorker::EndNow() {
  services_->thread.Check();
  if (!run_.has_value()) return;
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
  if (life_.ending()->during != WorkerState::kWarming) return !served()->loaded;
  return epoch_ == 1 && !served()->ready;
}

// Counts the death before any request ends, so that a client that hears of the death finds it
// counted. The requests come before the output, which may be long.
void SupervisedWorker::Ended(int wait_status) {
  const int64_t seen_ns = services_->clock->NowNs();
  MPSD_FAILPOINT("supervise.reap");
  life_.Go();
  ReadLastMessages();
  WorkerDeath death;
  death.reason = ReasonOf(wait_status);
  served()->metrics.worker_exits[static_cast<size_t>(death.reason.exit)].fetch_add(1);
  death.conviction = DetachFromPool(death.reason);
  const int64_t moved_ns = services_->clock->NowNs() - seen_ns;
  for (int i = 0; i < kLastReads && !run_->process->output_ended(); ++i) ReadOutput();
  LogDroppedLines();
  const WorkerLife::Ending& end = *life_.ending();
  death.lasting = end.lasts && NothingWentBetter();
  LogDeath(death, moved_ns);
  // Between its order and its report a worker loads its model and compares its lanes. A fault of
  // the model itself recurs with one lane.
  const bool at_load = end.during == WorkerState::kLoading;
  if (at_load && death.reason.exit == WorkerExit::kSignal) crashed_at_load_ = true;
  // Lanes that disturb each other may have caused it.
  if (death.reason.end == WorkerEnd::kCrashed) lanes_compared_ = false;
  LogConviction(death.conviction);
  const std::string words =
      end.facts.said_failure ? note_.info.last_words : absl::StrCat("it died: ", death.reason.text);
  death.served_well = life_.Reap(death.lasting, services_->jitter(), Time());
  run_.reset();
  note_.info.pid = 0;
  note_.info.last_exit = death.reason.text;
  note_.info.exit_reason = WorkerExitName(death.reason.exit);
  Publish();
  NoteOutcome(death.lasting ? absl::FailedPreconditionError(words) : absl::InternalError(words));
  owner_->OnDeath(this, death);
}

ExitReason SupervisedWorker::ReasonOf(int wait_status) {
  services_->thread.Check();
  ExitFacts facts = life_.ending()->facts;
  facts.wait_status = wait_status;
  const bool killed = WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL;
  facts.memory_was_short = killed && !facts.verdict.has_value() &&
                           services_->memory_kills.Explains(services_->host->OutOfMemoryKills(),
                                                            services_->clock->NowNs());
  return DescribeExit(facts);
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
  if (conviction == Conviction::kRequest) Log(LogLevel::kWarn, "request_crashed_workers");
  if (conviction != Conviction::kContent) return;
  Log(LogLevel::kWarn, "request_quarantined",
      LogField("to_lift", absl::StrCat("mpsd forgive ", served()->name)));
}

// `moved_ns` passed from the sight of the death until other workers had its requests.
void SupervisedWorker::LogDeath(const WorkerDeath& death, int64_t moved_ns) {
  const WorkerLife::Ending& end = *life_.ending();
  const bool asked = death.reason.exit == WorkerExit::kAsked;
  // A healthy worker that goes with its daemon or generation is no news.
  const bool is_quiet = asked && life_.leaving() && !end.facts.said_failure;
  LogLevel level = death.lasting ? LogLevel::kError : LogLevel::kWarn;
  if (asked) level = is_quiet ? LogLevel::kDebug : LogLevel::kInfo;
  Log(level, is_quiet ? "worker_ended" : "worker_died", Pid(), LogField("epoch", epoch_),
      LogField("device", note_.info.device), LogField("exit", death.reason.text),
      LogField("exit_reason", WorkerExitName(death.reason.exit)),
      LogField("while", WorkerStateName(end.during)),
      LogField("requests_moved_us", moved_ns / kNsPerUs),
      LogField("last_words", note_.info.last_words),
      LogField("starts_again", StartsAgainText(death.lasting, life_.leaving())));
}

// ---- what others are told of it ----

void SupervisedWorker::NoteOutcome(const absl::Status& status) {
  served()->settled = true;
  services_->board->NoteOutcome(*served(), status);
}

void SupervisedWorker::Publish() {
  MPSD_CHECK((state() == WorkerState::kWaiting) == !run_.has_value());
  note_.info.state = life_.failed() ? "failed" : WorkerStateName(state());
  note_.serves = state() == WorkerState::kServing;
  const bool starts = !run_.has_value() && !life_.leaving() && !life_.failed();
  note_.starts_at_ns = starts ? life_.start_at_ns() : -1;
  services_->board->Publish(*served(), note_);
}

}  // namespace mpsd
