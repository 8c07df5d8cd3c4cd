#include "server/supervise/supervised_worker.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "proto/base/backoff_policy.h"
#include "proto/base/check.h"
#include "proto/base/failpoint.h"
#include "server/supervise/worker_group.h"

namespace mpsd {
namespace {

// A worker that has hung up, or said that it cannot serve, leaves by itself within this.
constexpr int64_t kLeaveNs = kNsPerSecond;
constexpr int kLastReads = 16;

std::string Text(int64_t duration_ns) {
  return absl::FormatDuration(absl::Nanoseconds(duration_ns));
}

}  // namespace

SupervisedWorker::SupervisedWorker(WorkerGroup* group, uint32_t index, uint32_t epoch,
                                   SuperviseServices* services)
    : group_(group),
      services_(services),
      index_(index),
      first_token_(services->TakeTokens()),
      jitter_(services->Jitter()),
      epoch_(epoch),
      output_(services->clock->NowNs()) {
  note_.info.index = index;
  note_.info.lanes = group->model().order.lanes;
  Publish();
}

SupervisedWorker::~SupervisedWorker() { MPSD_CHECK(run_ == nullptr); }

void SupervisedWorker::MoveTo(WorkerState state) {
  MPSD_CHECK(MayFollow(state_, state));
  if (state_ != WorkerState::kEnding) before_end_ = state_;
  state_ = state;
  if (run_ != nullptr) run_->phase_since_own_ns = services_->own_time.now_ns();
  Publish();
}

// ---- its start ----

void SupervisedWorker::Start() {
  const SupervisedModel& model = group_->model();
  const int64_t now_ns = services_->clock->NowNs();
  ++epoch_;
  if (std::exchange(has_run_, true)) {
    ++note_.info.restarts;
    model.served->metrics.worker_restarts.fetch_add(1);
  }
  WorkerProcessOptions options;
  options.binary = services_->worker_binary;
  options.model = model.served->name;
  // Never one of before: what is in that may still be on its way out.
  options.temporary_folder = absl::StrCat(services_->temporary_folder, "/", model.served->name, "-",
                                          index_, ".", services_->next_incarnation++);
  options.threads = model.order.threads;
  auto process =
      WorkerProcess::Spawn(options, &services_->poller, first_token_, services_->remover);
  if (!process.ok()) {
    ++failures_;
    start_at_ns_ = now_ns + BackoffNs(failures_, services_->Jitter());
    note_.info.last_words = std::string(process.status().message());
    services_->logger->Log(LogLevel::kError, "worker_not_started",
                           {{"model", model.served->name}, {"reason", note_.info.last_words}});
    Publish();
    return Settle(absl::UnavailableError("its worker cannot be started; the log says why"));
  }
  run_ = std::make_unique<Incarnation>(now_ns, services_->own_time.now_ns());
  run_->process = *std::move(process);
  services_->memory_kills.Look(platform::OutOfMemoryKills(), now_ns);
  note_.info.pid = run_->process->pid();
  note_.info.epoch = epoch_;
  note_.started_ns = now_ns;
  MoveTo(WorkerState::kLoading);
  LoadOrder order = model.order;
  order.epoch = epoch_;
  if (absl::Status status = run_->process->Send(order); !status.ok()) {
    GiveUp(WorkerExit::kProtocol, std::string(status.message()));
  }
}

void SupervisedWorker::Wait(const std::string& reason) {
  MPSD_CHECK(state_ == WorkerState::kWaiting);
  if (note_.info.last_words == reason) return;
  note_.info.last_words = reason;
  Publish();
  Settle(absl::UnavailableError(reason));
}

void SupervisedWorker::OnControl() {
  if (run_ == nullptr || state_ == WorkerState::kEnding) return;
  if (!run_->control_reads.Take(services_->clock->NowNs())) {
    return GiveUp(WorkerExit::kProtocol, "it floods its control socket");
  }
  absl::StatusOr<MessageReader::Received> received = run_->process->Receive();
  if (received.ok()) return Take(*std::move(received));
  if (absl::IsOutOfRange(received.status())) return;
  // End of file: it has ended or is ending. Anything else: it does not keep to the protocol.
  if (!absl::IsUnavailable(received.status())) {
    return GiveUp(WorkerExit::kProtocol, std::string(received.status().message()));
  }
  group_->pool()->Quiesce(index_);
  LeaveBy(services_->clock->NowNs() + kLeaveNs);
}

void SupervisedWorker::Take(MessageReader::Received received) {
  if (const auto* failure = std::get_if<Failure>(&received.message)) {
    return OnFailure(*failure);
  }
  const auto* report = std::get_if<LoadReport>(&received.message);
  if (report != nullptr && state_ == WorkerState::kLoading) {
    const absl::Status status = group_->OnLoaded(this, *report);
    if (!status.ok()) GiveUp(WorkerExit::kLoad, std::string(status.message()));
    return;
  }
  absl::Status status = absl::InvalidArgumentError("it sent a message out of turn");
  if (std::holds_alternative<Ready>(received.message)) {
    if (state_ == WorkerState::kWarming && !run_->ready) status = absl::OkStatus();
    run_->ready = true;
  } else if (run_->link != nullptr) {
    status = group_->slabs()->Take(run_->link.get(), received.message);
  }
  if (!status.ok()) return GiveUp(WorkerExit::kProtocol, std::string(status.message()));
  const bool settled = group_->slabs()->Settled(run_->link.get());
  if (state_ == WorkerState::kWarming && run_->ready && settled) OnReady();
}

void SupervisedWorker::TakeLanes(const LoadReport& report) {
  const uint32_t ordered = group_->model().order.lanes;
  note_.info.lanes = report.lanes > 0 ? std::min(report.lanes, ordered) : ordered;
  if (note_.info.lanes == ordered) return;
  group_->served()->metrics.lane_demotions.fetch_add(1);
  services_->logger->Log(LogLevel::kWarn, "lanes_demoted",
                         {{"model", group_->served()->name},
                          {"worker", index_},
                          {"lanes", note_.info.lanes},
                          {"ordered", ordered},
                          {"reason", Printable(report.demotion)}});
}

absl::Status SupervisedWorker::AttachSegments() {
  const SupervisedModel& model = group_->model();
  const WorkerLink::Options options = model.pool->LinkOptions(index_, epoch_, note_.info.lanes);
  const uint64_t bytes = WorkerLink::SharedBytes(options);
  absl::Status status =
      group_->TakeMemory(bytes, absl::StrCat("a worker of model '", model.served->name, "'"));
  if (!status.ok()) return status;
  absl::StatusOr<std::shared_ptr<WorkerLink>> link = WorkerLink::Create(options);
  if (!link.ok()) {
    services_->budget->GiveBack(bytes);
    return group_->NoSharedMemory(link.status());
  }
  MPSD_FAILPOINT("supervise.attach");
  AttachOrder order;
  order.layout_hash = LayoutHash();
  order.mailbox_bytes = (*link)->mailbox_segment().bytes();
  order.worker_segment_bytes = (*link)->worker_segment().bytes();
  std::vector<int> fds = {(*link)->mailbox_segment().peer_fd(), (*link)->worker_segment().peer_fd(),
                          (*link)->bell().ring_fd.get()};
  const SlabSegment first = model.pool->SlabDescriptors().front();
  fds.push_back(first.fd);
  order.slab_segment_bytes.push_back(first.bytes);
  run_->link = *std::move(link);
  run_->link->HoldUntilUnmapped(services_->budget->Share(bytes));
  MoveTo(WorkerState::kWarming);
  status = run_->process->Send(order, fds);
  group_->slabs()->Attach(run_->link.get(),
                          [this](const Message& message, absl::Span<const int> message_fds) {
                            return run_->process->Send(message, message_fds);
                          });
  return status;
}

void SupervisedWorker::OnReady() {
  const auto give_up = [keeper = services_->keeper, model = group_->served(), worker = index_,
                        epoch = epoch_] {
    keeper->Condemn(*model, worker, epoch, "it rings without end");
  };
  if (absl::Status status = services_->completions->Watch(run_->link, give_up); !status.ok()) {
    return GiveUp(WorkerExit::kLoad, std::string(status.message()));
  }
  const int64_t now_ns = services_->clock->NowNs();
  serving_since_ns_ = now_ns;
  note_.info.last_words.clear();
  run_->lanes.assign(run_->link->lanes(), LaneWatch(services_->own_time.now_ns()));
  MoveTo(WorkerState::kServing);
  // Whoever parks next tells the new worker too whether to ring.
  services_->plane->Wake();
  group_->slabs()->Serve(run_->link.get());
  group_->pool()->Attach(run_->link);
  while (!services_->plane->Park()) {
  }
  Settle(absl::OkStatus());
  services_->logger->Log(LogLevel::kInfo, "worker_ready",
                         {{"model", group_->served()->name},
                          {"worker", index_},
                          {"pid", run_->process->pid()},
                          {"epoch", epoch_},
                          {"device", note_.info.device}});
  group_->OnServing(this, now_ns - note_.started_ns);
}

// ---- its end ----

void SupervisedWorker::OnFailure(const Failure& failure) {
  NoteFailure(failure);
  LeaveBy(services_->clock->NowNs() + kLeaveNs);
  Settle(absl::InternalError(note_.info.last_words));
}

void SupervisedWorker::NoteFailure(const Failure& failure) {
  note_.info.last_words = Printable(failure.text);
  run_->said_failure = true;
}

// Its end may be seen before what it said last.
void SupervisedWorker::ReadLastMessages() {
  for (int i = 0; i < kLastReads && !run_->said_failure; ++i) {
    const absl::StatusOr<MessageReader::Received> received = run_->process->Receive();
    if (absl::IsOutOfRange(received.status())) continue;
    if (!received.ok()) return;
    const auto* failure = std::get_if<Failure>(&received->message);
    if (failure != nullptr) NoteFailure(*failure);
  }
}

// Closes the control socket, which is to say: go.
void SupervisedWorker::LeaveBy(int64_t kill_at_ns) {
  run_->process->Hang();
  run_->kill_at_ns = std::min(run_->kill_at_ns, kill_at_ns);
  if (state_ != WorkerState::kEnding) MoveTo(WorkerState::kEnding);
}

void SupervisedWorker::Drain() {
  leaving_ = true;
  group_->pool()->Quiesce(index_);
  MoveTo(WorkerState::kDraining);
}

void SupervisedWorker::Dismiss() {
  leaving_ = true;
  if (run_ == nullptr) return;
  if (!run_->verdict.has_value()) run_->verdict = {WorkerExit::kAsked, "it is not needed any more"};
  LeaveBy(services_->clock->NowNs() + kLeaveNs);
}

void SupervisedWorker::GiveUp(WorkerExit exit, const std::string& why) {
  if (run_ == nullptr) return;
  const std::string reason = Printable(why);
  note_.info.last_words = reason;
  if (!run_->verdict.has_value()) run_->verdict = {exit, reason};
  services_->logger->Log(LogLevel::kError, "worker_killed",
                         {{"model", group_->served()->name},
                          {"worker", index_},
                          {"pid", run_->process->pid()},
                          {"exit_reason", WorkerExitName(run_->verdict->exit)},
                          {"reason", reason}});
  run_->was_stopped = run_->process->Stopped();
  run_->process->Kill();
  LeaveBy(INT64_MAX);
  Settle(absl::InternalError(reason));
}

void SupervisedWorker::KillLate() {
  run_->kill_at_ns = INT64_MAX;
  if (!run_->verdict.has_value()) {
    run_->verdict = {run_->said_failure ? WorkerExit::kLoad : WorkerExit::kProtocol,
                     "it hung up and did not leave"};
  }
  run_->process->Kill();
}

void SupervisedWorker::EndNow() {
  if (run_ == nullptr) return;
  run_->process->Kill();
  Ended(run_->process->Reap(/*wait=*/true));
}

void SupervisedWorker::OnExit() {
  if (run_ == nullptr) return;
  const int wait_status = run_->process->Reap(/*wait=*/false);
  if (wait_status >= 0) Ended(wait_status);
}

// The count comes first, so that who is told of the death finds it counted; then its requests; what
// it leaves to be read afterwards.
void SupervisedWorker::Ended(int wait_status) {
  const int64_t seen_ns = services_->clock->NowNs();
  MPSD_FAILPOINT("supervise.reap");
  ReadLastMessages();
  ExitFacts facts;
  facts.wait_status = wait_status;
  facts.verdict = run_->verdict;
  facts.said_failure = run_->said_failure;
  facts.was_stopped = run_->was_stopped;
  facts.memory_was_short = MemoryWasShort(wait_status);
  const ExitReason reason = DescribeExit(facts);
  group_->served()->metrics.worker_exits[static_cast<size_t>(reason.exit)].fetch_add(1);
  bool struck = false;
  if (run_->link != nullptr) {
    services_->completions->Unwatch(*run_->link);
    struck = group_->pool()->Detach(index_, reason.end);
    group_->slabs()->Detach(run_->link.get());
  }
  const int64_t moved_ns = services_->clock->NowNs() - seen_ns;
  for (int i = 0; i < kLastReads && !run_->process->output_ended(); ++i) ReadOutput();
  SayDropped();
  if (state_ != WorkerState::kEnding) before_end_ = state_;
  LogDeath(reason, moved_ns);
  if (struck) {
    services_->logger->Log(LogLevel::kWarn, "request_quarantined",
                           {{"model", group_->served()->name}, {"worker", index_}});
  }
  const int64_t now_ns = services_->clock->NowNs();
  const bool served_well = serving_since_ns_ > 0 && now_ns - serving_since_ns_ > kGoodServiceNs;
  failures_ = served_well ? 1 : failures_ + 1;
  start_at_ns_ = now_ns + BackoffNs(failures_, services_->Jitter());
  serving_since_ns_ = 0;
  const std::string words =
      run_->said_failure ? note_.info.last_words : absl::StrCat("it died: ", reason.text);
  run_.reset();
  note_.info.pid = 0;
  note_.info.last_exit = reason.text;
  note_.info.exit_reason = WorkerExitName(reason.exit);
  MoveTo(WorkerState::kWaiting);
  Settle(absl::InternalError(words));
  group_->OnDeath(this, reason, struck, served_well);
}

bool SupervisedWorker::MemoryWasShort(int wait_status) {
  const bool killed = WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL;
  if (!killed || run_->verdict.has_value()) return false;
  return services_->memory_kills.Explains(platform::OutOfMemoryKills(), services_->clock->NowNs());
}

// `moved_ns` lie between the sight of the death and its requests being in other hands.
void SupervisedWorker::LogDeath(const ExitReason& reason, int64_t moved_ns) {
  const bool asked = reason.exit == WorkerExit::kAsked;
  services_->logger->Log(asked ? LogLevel::kInfo : LogLevel::kWarn, "worker_died",
                         {{"model", group_->served()->name},
                          {"worker", index_},
                          {"pid", run_->process->pid()},
                          {"epoch", epoch_},
                          {"exit", reason.text},
                          {"exit_reason", WorkerExitName(reason.exit)},
                          {"while", WorkerStateName(before_end_)},
                          {"requests_moved_us", moved_ns / kNsPerUs},
                          {"last_words", note_.info.last_words}});
}

// ---- what it writes ----

void SupervisedWorker::OnOutput() {
  if (run_ == nullptr) return;
  const bool allowed = run_->output_reads.Take(services_->clock->NowNs());
  return allowed ? ReadOutput() : run_->process->PauseOutput(true);
}

void SupervisedWorker::ReadOutput() {
  const int64_t now_ns = services_->clock->NowNs();
  const auto on_line = [this](const std::string& line) {
    services_->logger->Log(LogLevel::kInfo, "worker_output",
                           {{"model", group_->served()->name},
                            {"worker", index_},
                            {"pid", run_->process->pid()},
                            {"line", line}});
  };
  const std::string bytes = run_->process->ReadOutput();
  output_.Take(bytes, now_ns, on_line);
  if (run_->process->output_ended()) output_.End(now_ns, on_line);
  const std::deque<std::string>& lines = output_.last_lines();
  note_.info.last_lines.assign(lines.begin(), lines.end());
  const bool known = run_->said_failure || run_->verdict.has_value();
  if (!known && !bytes.empty() && !lines.empty()) note_.info.last_words = lines.back();
}

void SupervisedWorker::SayDropped() {
  const uint64_t dropped = output_.TakeDropped();
  if (dropped == 0) return;
  group_->served()->metrics.worker_lines_dropped.fetch_add(dropped, std::memory_order_relaxed);
  services_->logger->Log(LogLevel::kWarn, "worker_output_dropped",
                         {{"model", group_->served()->name},
                          {"worker", index_},
                          {"pid", run_->process->pid()},
                          {"lines", dropped}});
}

// ---- its budgets ----

void SupervisedWorker::Tick() {
  if (run_ == nullptr) return;
  if (run_->kill_at_ns <= services_->clock->NowNs()) KillLate();
  // A worker that is gone cannot be sent to; its exit is on the way.
  run_->process->Flush().IgnoreError();
  run_->process->PauseOutput(false);
  SayDropped();
  CheckBudget();
  Publish();
}

void SupervisedWorker::CheckBudget() {
  const SupervisionLimits& limits = group_->model().limits;
  const int64_t phase_ns = services_->own_time.now_ns() - run_->phase_since_own_ns;
  if (state_ == WorkerState::kLoading && phase_ns > limits.load_timeout_ns) {
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
  const WorkerProgress progress = group_->pool()->Progress(index_);
  run_->answers = progress.requests > run_->requests;
  run_->requests = progress.requests;
  const int64_t own_ns = services_->own_time.now_ns();
  const int64_t run_budget_ns =
      RunBudgetNs(group_->model().limits.run_timeout_ns, group_->served()->metrics.execute);
  for (size_t lane = 0; lane < progress.lanes.size() && lane < run_->lanes.size(); ++lane) {
    const LaneProgress& seen = progress.lanes[lane];
    const int64_t silent_ns = run_->lanes[lane].SilentNs(seen, own_ns);
    const int64_t budget_ns = seen.inflight > 0 ? run_budget_ns : kIdleBudgetNs;
    if (silent_ns <= budget_ns) continue;
    return GiveUp(WorkerExit::kHang,
                  absl::StrCat("lane ", lane, " made no progress for ", Text(budget_ns)));
  }
  if (state_ == WorkerState::kDraining && progress.inflight == 0) Dismiss();
}

uint64_t SupervisedWorker::resident_bytes() const {
  return run_ == nullptr ? 0 : platform::ResidentMemoryBytes(run_->process->pid());
}

void SupervisedWorker::Settle(const absl::Status& status) {
  services_->board->Settle(*group_->served(), status);
}

void SupervisedWorker::Publish() {
  note_.info.state = WorkerStateName(state_);
  note_.serves = state_ == WorkerState::kServing;
  note_.starts_at_ns = state_ == WorkerState::kWaiting && !leaving_ ? start_at_ns_ : -1;
  services_->board->Publish(*group_->served(), note_);
}

}  // namespace mpsd
