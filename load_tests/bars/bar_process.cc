#include "load_tests/bars/bar_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/clock.h"
#include "proto/base/platform.h"

extern "C" char** environ;

namespace mpsd::load {

absl::StatusOr<std::unique_ptr<BarProcess>> BarProcess::Start(const std::string& program,
                                                              std::vector<std::string> arguments) {
  absl::StatusOr<std::pair<UniqueFd, UniqueFd>> sockets = platform::SocketPair();
  if (!sockets.ok()) return sockets.status();
  platform::SpawnOptions options;
  options.path = program;
  options.arguments = std::move(arguments);
  for (char** variable = environ; *variable != nullptr; ++variable) {
    options.environment.push_back(*variable);
  }
  options.control_fd = std::move(sockets->second);
  options.output_fd = UniqueFd(dup(STDERR_FILENO));
  const absl::StatusOr<pid_t> pid = platform::Spawn(std::move(options));
  if (!pid.ok()) return pid.status();
  return std::unique_ptr<BarProcess>(new BarProcess(*pid, std::move(sockets->first)));
}

BarProcess::~BarProcess() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

absl::Status BarProcess::AwaitReady(int64_t until_ns) {
  const absl::StatusOr<nlohmann::json> line = NextLine(until_ns);
  if (!line.ok()) return line.status();
  if (line->contains("stage")) return absl::OkStatus();
  return absl::AbortedError(line->value("error", "it ended before it began"));
}

void BarProcess::Begin() {
  const char byte = 0;
  // a dead process shows in its outcome
  platform::SendWithFds(control_.get(), {&byte, 1}, {}).IgnoreError();
}

absl::StatusOr<BarOutcome> BarProcess::AwaitOutcome(int64_t until_ns) {
  const absl::StatusOr<nlohmann::json> line = NextLine(until_ns);
  if (!line.ok()) return line.status();
  if (line->contains("outcome")) return OutcomeFrom(line->at("outcome"));
  return absl::AbortedError(line->value("error", "it began twice"));
}

absl::StatusOr<nlohmann::json> BarProcess::NextLine(int64_t until_ns) {
  for (;;) {
    const absl::StatusOr<std::string> text = ReadLine(until_ns);
    if (!text.ok()) return text.status();
    nlohmann::json line = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
    if (!line.is_object()) return absl::InternalError(absl::StrCat("it said: ", *text));
    if (!line.contains("stage")) return line;
    stage_ = line["stage"];
    if (stage_ == "ready") return line;
  }
}

absl::StatusOr<std::string> BarProcess::ReadLine(int64_t until_ns) {
  for (;;) {
    const size_t end = unread_.find('\n');
    if (end != std::string::npos) {
      std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    const int64_t left_ms = (until_ns - Clock::Real()->NowNs()) / kNsPerMs;
    pollfd readable = {control_.get(), POLLIN, 0};
    if (left_ms <= 0) return InStage(absl::StatusCode::kDeadlineExceeded, "no end in time");
    if (poll(&readable, 1, static_cast<int>(std::min<int64_t>(left_ms, 1000))) <= 0) continue;
    char bytes[4096];
    const ssize_t count = read(control_.get(), bytes, sizeof(bytes));
    if (count <= 0) return Ended();
    unread_.append(bytes, static_cast<size_t>(count));
  }
}

absl::Status BarProcess::Ended() {
  int status = 0;
  waitpid(std::exchange(pid_, -1), &status, 0);
  return InStage(absl::StatusCode::kAborted, WIFSIGNALED(status)
                                                 ? absl::StrCat("signal ", WTERMSIG(status))
                                                 : absl::StrCat("exit ", WEXITSTATUS(status)));
}

absl::Status BarProcess::InStage(absl::StatusCode code, const std::string& what) const {
  return absl::Status(code, absl::StrCat(what, " in the stage '", stage_, "'"));
}

}  // namespace mpsd::load
