#include "proto/base/child_output.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "proto/base/clock.h"
#include "proto/base/fd.h"
#include "proto/base/platform.h"

extern "C" char** environ;

namespace mpsd {
namespace {

constexpr size_t kMaxOutputBytes = 1 << 20;
constexpr int kLookMs = 20;  // a child may outlive its time-out by this

std::vector<std::string> OwnEnvironmentBut(const std::map<std::string, std::string>& others) {
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    std::string text = *variable;
    if (others.count(text.substr(0, text.find('='))) == 0) environment.push_back(std::move(text));
  }
  for (const auto& [name, value] : others) environment.push_back(name + "=" + value);
  return environment;
}

// False if `take` wants no more.
bool ReadToEnd(int fd, const ChildListener& take) {
  char chunk[4096];
  while (take("")) {
    pollfd readable{fd, POLLIN, 0};
    if (poll(&readable, 1, kLookMs) <= 0) continue;
    const ssize_t got = read(fd, chunk, sizeof(chunk));
    if (got == 0 || (got < 0 && errno != EINTR)) return true;
    if (got > 0 && !take({chunk, static_cast<size_t>(got)})) return false;
  }
  return false;
}

int ExitCode(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

absl::StatusOr<ChildOutput> Run(const std::string& path, std::vector<std::string> arguments,
                                const std::map<std::string, std::string>& environment,
                                const ChildListener& take) {
  int fds[2];
  if (pipe(fds) != 0) return absl::ErrnoToStatus(errno, "cannot create a pipe");
  for (const int fd : fds) fcntl(fd, F_SETFD, FD_CLOEXEC);
  const UniqueFd output(fds[0]);
  auto sockets = platform::SocketPair();
  platform::SpawnOptions spawn;
  spawn.path = path;
  spawn.arguments = std::move(arguments);
  spawn.environment = OwnEnvironmentBut(environment);
  spawn.output_fd = UniqueFd(fds[1]);
  if (!sockets.ok()) return sockets.status();
  spawn.control_fd = std::move(sockets->second);
  const absl::StatusOr<pid_t> pid = platform::Spawn(std::move(spawn));
  if (!pid.ok()) return pid.status();

  ChildOutput result;
  const bool ended = ReadToEnd(output.get(), take);
  if (!ended) kill(*pid, SIGKILL);
  int wait_status = 0;
  while (waitpid(*pid, &wait_status, 0) < 0 && errno == EINTR) {
  }
  if (!ended) return absl::AbortedError(path + " was ended");
  result.exit_code = ExitCode(wait_status);
  return result;
}

}  // namespace

absl::StatusOr<ChildOutput> RunChild(const std::string& path, std::vector<std::string> arguments,
                                     int64_t timeout_ns,
                                     const std::map<std::string, std::string>& environment) {
  const int64_t until_ns = Clock::Real()->NowNs() + timeout_ns;
  std::string text;
  auto output = Run(path, std::move(arguments), environment, [&](std::string_view piece) {
    if (text.size() < kMaxOutputBytes) text += piece;
    return Clock::Real()->NowNs() < until_ns;
  });
  if (absl::IsAborted(output.status())) return absl::DeadlineExceededError(path + " does not end");
  if (output.ok()) output->text = std::move(text);
  return output;
}

absl::StatusOr<ChildOutput> RunChild(const std::string& path, std::vector<std::string> arguments,
                                     const ChildListener& take) {
  return Run(path, std::move(arguments), {}, take);
}

std::string LastLine(const std::string& text) {
  const size_t end = text.find_last_not_of("\n");
  if (end == std::string::npos) return "";
  const size_t begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

}  // namespace mpsd
