#include "server/supervise/process/cuda_service.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/base/backoff_policy.h"
#include "proto/base/fd.h"
#include "proto/base/platform.h"
#include "proto/files/whole_file.h"
#include "server/supervise/process/child_environment.h"

namespace mpsd {
namespace {

constexpr uint64_t kMaxEnvironmentBytes = 8 << 20;
constexpr absl::Duration kEndsWithin = absl::Seconds(5);
constexpr absl::Duration kLookAgain = absl::Milliseconds(10);

std::string PipeFolder(const std::string& folder) { return folder + "/pipe"; }
std::string LogFolder(const std::string& folder) { return folder + "/log"; }

// Empty if there is none.
std::string FindProgram(const std::string& name) {
  if (absl::StrContains(name, "/")) return access(name.c_str(), X_OK) == 0 ? name : "";
  const char* path = std::getenv("PATH");
  for (const absl::string_view folder : absl::StrSplit(path == nullptr ? "" : path, ':')) {
    const std::string candidate = absl::StrCat(folder, "/", name);
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

std::string PipeVariable(const std::string& folder) {
  return "CUDA_MPS_PIPE_DIRECTORY=" + PipeFolder(folder);
}

std::string PidFile(const std::string& folder) { return folder + "/pid"; }

// It outlives its daemon. The pid in the folder may be another process's by now, so the process
// must name the folder in its environment.
void EndWhatWasLeftBehind(const std::string& folder) {
  pid_t pid = 0;
  if (!(std::ifstream(PidFile(folder)) >> pid) || pid <= 1) return;
  const std::string environment =
      ReadWholeFile(absl::StrCat("/proc/", pid, "/environ"), kMaxEnvironmentBytes).value_or("");
  for (const absl::string_view variable : absl::StrSplit(environment, '\0')) {
    if (variable == PipeVariable(folder)) kill(-pid, SIGKILL);
  }
}

absl::Status MakeFolders(const std::string& folder) {
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  for (const std::string& part : {PipeFolder(folder), LogFolder(folder)}) {
    std::filesystem::create_directories(part, error);
    if (error) return absl::FailedPreconditionError(absl::StrCat("cuda_mps: cannot make ", part));
  }
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
  return absl::OkStatus();
}

absl::Status CannotStart(absl::string_view why) {
  return absl::FailedPreconditionError(
      absl::StrCat("cuda_mps is 'on', but ", why,
                   "; install the NVIDIA driver's "
                   "nvidia-cuda-mps-control, or set cuda_mps to 'off'"));
}

}  // namespace

void CudaService::SetEnvironment(const std::string& folder) {
  setenv("CUDA_MPS_PIPE_DIRECTORY", PipeFolder(folder).c_str(), 1);
  setenv("CUDA_MPS_LOG_DIRECTORY", LogFolder(folder).c_str(), 1);
}

absl::StatusOr<std::unique_ptr<CudaService>> CudaService::Start(CudaServiceOptions options,
                                                                Logger* logger) {
  const std::string program = FindProgram(options.program);
  if (program.empty()) return CannotStart(absl::StrCat("there is no ", options.program));
  options.program = program;
  EndWhatWasLeftBehind(options.folder);
  if (absl::Status status = MakeFolders(options.folder); !status.ok()) return status;
  std::unique_ptr<CudaService> service(new CudaService(std::move(options), logger));
  {
    absl::MutexLock lock(&service->mu_);
    if (absl::Status status = service->Spawn(); !status.ok()) return status;
  }
  service->thread_ = std::thread([raw = service.get()] { raw->KeepAlive(); });
  if (absl::Status status = service->WaitUntilItListens(); !status.ok()) return status;
  return service;
}

CudaService::~CudaService() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
    const auto gone = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return pid_ < 0; };
    for (const int signal : {SIGTERM, SIGKILL}) {
      if (pid_ > 0) kill(-pid_, signal);
      mu_.AwaitWithTimeout(absl::Condition(&gone), kEndsWithin);
    }
  }
  if (thread_.joinable()) thread_.join();
}

pid_t CudaService::pid() const {
  absl::MutexLock lock(&mu_);
  return pid_;
}

absl::Status CudaService::Spawn() {
  auto sockets = platform::SocketPair();
  if (!sockets.ok()) return sockets.status();
  platform::SpawnOptions spawn;
  spawn.path = options_.program;
  spawn.arguments = {"-f"};
  spawn.environment = EnvironmentWithout({"CUDA_MPS_"});
  spawn.environment.push_back(PipeVariable(options_.folder));
  spawn.environment.push_back("CUDA_MPS_LOG_DIRECTORY=" + LogFolder(options_.folder));
  spawn.control_fd = std::move(sockets->second);
  // The service writes its log into its folder.
  spawn.output_fd = UniqueFd(open("/dev/null", O_WRONLY | O_CLOEXEC));
  const absl::StatusOr<pid_t> pid = platform::Spawn(std::move(spawn));
  if (!pid.ok()) return pid.status();
  pid_ = *pid;
  std::ofstream(PidFile(options_.folder)) << pid_ << "\n";
  return absl::OkStatus();
}

absl::Status CudaService::WaitUntilItListens() {
  const int64_t until_ns = Clock::Real()->NowNs() + options_.start_timeout_ns;
  while (Clock::Real()->NowNs() < until_ns) {
    std::error_code error;
    if (std::filesystem::exists(PipeFolder(options_.folder) + "/control", error)) {
      return absl::OkStatus();
    }
    if (pid() < 0) return CannotStart("it ended at once");
    absl::SleepFor(kLookAgain);
  }
  return CannotStart("it does not listen");
}

int CudaService::Reap() {
  const pid_t pid = this->pid();
  siginfo_t info;
  // Under the lock, so that no signal is sent to another process with the same pid.
  while (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  absl::MutexLock lock(&mu_);
  kill(-pid, SIGKILL);  // processes that it started
  int wait_status = 0;
  waitpid(pid, &wait_status, 0);
  pid_ = -1;
  return wait_status;
}

bool CudaService::Rest(uint32_t failures) {
  absl::MutexLock lock(&mu_);
  const absl::Duration rest = absl::Nanoseconds(BackoffNs(failures + 1, /*jitter=*/0));
  return !mu_.AwaitWithTimeout(absl::Condition(&stopping_), rest);
}

void CudaService::KeepAlive() {
  platform::NameThread("cuda-service");
  uint32_t failures = 0;
  for (;;) {
    const int64_t begin_ns = Clock::Real()->NowNs();
    if (pid() > 0) {
      const int wait_status = Reap();
      absl::MutexLock lock(&mu_);
      if (stopping_) return;
      logger_->Log(LogLevel::kError, "cuda_mps_ended", {{"wait_status", wait_status}});
    }
    failures = Clock::Real()->NowNs() - begin_ns > kGoodServiceNs ? 1 : failures + 1;
    if (!Rest(failures)) return;
    absl::MutexLock lock(&mu_);
    if (stopping_) return;
    const absl::Status status = Spawn();
    if (!status.ok()) {
      logger_->Log(LogLevel::kError, "cuda_mps_not_started",
                   {{"reason", std::string(status.message())}});
    }
  }
}

}  // namespace mpsd
