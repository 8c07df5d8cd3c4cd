#include "server/supervise/process/spawned_worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "proto/base/failpoint.h"
#include "proto/files/private_folder.h"
#include "server/supervise/process/child_environment.h"

namespace mpsd {
namespace {

// This process's environment with the worker's own settings:
// - Thread counts. Otherwise each library would start a thread for each core.
// - No binding of threads to processors. All workers would get the same ones, and the sandbox
//   denies it.
// - A temporary folder that is removed with everything in it.
std::vector<std::string> Environment(const SpawnedWorkerOptions& options) {
  const std::string threads = absl::StrCat(options.threads);
  std::vector<std::pair<std::string, std::string>> own = {
      {"OMP_NUM_THREADS", threads},        {"OMP_THREAD_LIMIT", threads},
      {"MKL_NUM_THREADS", threads},        {"OPENBLAS_NUM_THREADS", threads},
      {"VECLIB_MAXIMUM_THREADS", threads}, {"TMPDIR", options.temporary_folder},
      {"MPS_FORCE_GRAPH_PATH", "1"},       {"NOTIFY_SOCKET", ""},
      {"OMP_PROC_BIND", "false"},          {"GOMP_CPU_AFFINITY", ""}};
  MPSD_FAILPOINT_ENVIRONMENT(options.model, &own);
  std::vector<std::string> assignments;
  for (const auto& [name, unused] : own) assignments.push_back(name + "=");
  std::vector<std::string> environment =
      EnvironmentWithout(std::vector<absl::string_view>(assignments.begin(), assignments.end()));
  for (const auto& [name, value] : own) {
    if (!value.empty()) environment.push_back(absl::StrCat(name, "=", value));
  }
  return environment;
}

absl::StatusOr<std::pair<UniqueFd, UniqueFd>> Pipe() {
  int fds[2];
  if (pipe(fds) != 0) return absl::ErrnoToStatus(errno, "cannot create a pipe");
  for (const int fd : fds) fcntl(fd, F_SETFD, FD_CLOEXEC);
  fcntl(fds[0], F_SETFL, O_NONBLOCK);
  return std::make_pair(UniqueFd(fds[0]), UniqueFd(fds[1]));
}

// Whether the worker has closed its end; its exit will say why.
bool HasHungUp(int socket) {
  pollfd state{socket, 0, 0};
  return poll(&state, 1, 0) > 0 && (state.revents & (POLLHUP | POLLERR)) != 0;
}

// Somebody may have removed the folder above it.
absl::Status MakeFolder(const std::string& folder) {
  const std::string above = std::filesystem::path(folder).parent_path();
  absl::Status status = MakePrivateFolder(above);
  return status.ok() ? MakePrivateFolder(folder) : status;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SpawnedWorkerProcess>> SpawnedWorkerProcess::Spawn(
    const SpawnedWorkerOptions& options, platform::Poller* poller, uint64_t first_token,
    FolderRemover* remover) {
  if (const int error = MPSD_FAILPOINT_ERRNO("supervise.spawn"); error != 0) {
    return absl::ErrnoToStatus(error, "cannot start a worker");
  }
  auto sockets = platform::SocketPair();
  if (!sockets.ok()) return sockets.status();
  auto pipe = Pipe();
  if (!pipe.ok()) return pipe.status();
  if (absl::Status made = MakeFolder(options.temporary_folder); !made.ok()) return made;

  platform::SpawnOptions spawn;
  spawn.path = options.binary;
  spawn.environment = Environment(options);
  spawn.control_fd = std::move(sockets->second);
  spawn.output_fd = std::move(pipe->second);
  absl::StatusOr<pid_t> pid = platform::Spawn(std::move(spawn));
  if (!pid.ok()) {
    remover->Remove(options.temporary_folder);
    return pid.status();
  }

  std::unique_ptr<SpawnedWorkerProcess> process(
      new SpawnedWorkerProcess(poller, first_token, remover));
  process->pid_ = *pid;
  process->control_ = std::move(sockets->first);
  fcntl(process->control_.get(), F_SETFL, O_NONBLOCK);
  process->output_ = std::move(pipe->first);
  process->temporary_folder_ = options.temporary_folder;
  if (absl::Status status = process->AddToPoller(); !status.ok()) {
    process->Kill();
    process->Reap(/*wait=*/true);
    return status;
  }
  return process;
}

absl::Status SpawnedWorkerProcess::AddToPoller() {
  absl::StatusOr<UniqueFd> exit = poller_->AddExit(pid_, TokenOf(WorkerEvent::kExit));
  if (!exit.ok()) return exit.status();
  exit_ = *std::move(exit);
  absl::Status status = poller_->AddReadable(control_.get(), TokenOf(WorkerEvent::kControl));
  if (!status.ok()) return status;
  return poller_->AddReadable(output_.get(), TokenOf(WorkerEvent::kOutput));
}

SpawnedWorkerProcess::~SpawnedWorkerProcess() {
  MPSD_CHECK(reaped_);
  Hang();
  PauseOutput(true);
  if (exit_.valid()) poller_->RemoveReadable(exit_.get());
  remover_->Remove(std::move(temporary_folder_));
}

absl::Status SpawnedWorkerProcess::Send(const Message& message, absl::Span<const int> fds) {
  if (absl::Status status = writer_.Queue(message, fds); !status.ok()) return status;
  // A failure recurs at the next tick, or is over by then.
  Flush().IgnoreError();
  return absl::OkStatus();
}

absl::Status SpawnedWorkerProcess::Flush() {
  if (!control_.valid() || writer_.empty()) return absl::OkStatus();
  absl::Status status = writer_.Flush(control_.get());
  return status.ok() || !HasHungUp(control_.get()) ? status : absl::OkStatus();
}

std::string SpawnedWorkerProcess::ReadOutput() {
  char chunk[4096];
  const ssize_t got = output_.valid() ? read(output_.get(), chunk, sizeof(chunk)) : -1;
  if (got > 0) return std::string(chunk, static_cast<size_t>(got));
  if (got == 0) {
    PauseOutput(true);
    output_.Reset();
  }
  return "";
}

void SpawnedWorkerProcess::PauseOutput(bool paused) {
  if (!output_.valid() || paused == output_paused_) return;
  output_paused_ = paused;
  if (paused) return poller_->RemoveReadable(output_.get());
  // The poller had this descriptor before, so it has room.
  poller_->AddReadable(output_.get(), TokenOf(WorkerEvent::kOutput)).IgnoreError();
}

void SpawnedWorkerProcess::Hang() {
  if (!control_.valid()) return;
  poller_->RemoveReadable(control_.get());
  control_.Reset();
}

bool SpawnedWorkerProcess::Stopped() const {
  siginfo_t info{};
  const int result = waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WNOHANG | WNOWAIT);
  return result == 0 && info.si_pid == pid_;
}

void SpawnedWorkerProcess::Kill() {
  if (!reaped_) kill(pid_, SIGKILL);
}

int SpawnedWorkerProcess::Reap(bool wait) {
  MPSD_CHECK(!reaped_);
  int status = 0;
  pid_t pid = -1;
  do {
    pid = waitpid(pid_, &status, wait ? 0 : WNOHANG);
  } while (pid < 0 && errno == EINTR);
  if (pid != pid_) return -1;
  reaped_ = true;
  return status;
}

}  // namespace mpsd
