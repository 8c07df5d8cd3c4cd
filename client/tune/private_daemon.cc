#include "client/tune/private_daemon.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/tune/tune_config.h"
#include "nlohmann/json.hpp"
#include "proto/base/child_output.h"
#include "proto/base/fd.h"
#include "proto/base/platform.h"
#include "proto/files/whole_file.h"

extern "C" char** environ;

namespace mpsd::tune {
namespace {

constexpr absl::Duration kLook = absl::Milliseconds(20);
constexpr absl::Duration kCallLimit = absl::Seconds(5);
constexpr absl::Duration kEndLimit = absl::Seconds(20);
constexpr absl::Duration kConnectLimit = absl::Milliseconds(500);
constexpr uint64_t kMostRestarts = 2;  // a worker with more deaths is given up
constexpr uint64_t kMostLogBytes = 64 << 20;

absl::StatusOr<pid_t> SpawnDaemon(const std::string& program, const std::string& folder) {
  platform::SpawnOptions spawn;
  spawn.path = program;
  spawn.arguments = {"serve", "--config", folder + "/mpsd.json"};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    spawn.environment.emplace_back(*variable);
  }
  const std::string log = folder + "/log";
  spawn.output_fd = UniqueFd(open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (spawn.output_fd.get() < 0)
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", log));
  auto sockets = platform::SocketPair();
  if (!sockets.ok()) return sockets.status();
  spawn.control_fd = std::move(sockets->second);
  return platform::Spawn(std::move(spawn));
}

// A JSON line has its text in one of these keys; any other line is the text.
std::string WordsOf(const std::string& line) {
  const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return line;
  for (const char* key : {"reason", "error", "event"}) {
    const auto found = json.find(key);
    if (found != json.end() && found->is_string()) return found->get<std::string>();
  }
  return line;
}

}  // namespace

std::string StartFault(const client::ModelStatus& model) {
  if (absl::StartsWith(model.state, "refused")) return model.state;
  for (const client::WorkerStatus& worker : model.workers) {
    if (worker.state != "failed" && worker.restarts < kMostRestarts) continue;
    if (const size_t colon = model.state.find(": "); colon != std::string::npos) {
      return model.state.substr(colon + 2);
    }
    if (!worker.last_lines.empty()) return worker.last_lines.back();
    return worker.last_exit.empty() ? "its worker failed" : worker.last_exit;
  }
  return "";
}

bool AllServe(const client::ModelStatus& model) {
  return model.ready && std::all_of(model.workers.begin(), model.workers.end(),
                                    [](const auto& worker) { return worker.state == "serving"; });
}

absl::StatusOr<std::unique_ptr<PrivateDaemon>> PrivateDaemon::Start(
    const PrivateDaemonOptions& options) {
  absl::StatusOr<PrivateFolder> folder = PrivateFolder::Make();
  if (!folder.ok()) return folder.status();
  const std::string path = folder->path();
  const absl::Status written = WriteWholeFile(path + "/mpsd.json", options.config(path));
  if (!written.ok()) return written;
  const absl::StatusOr<pid_t> pid = SpawnDaemon(options.program, path);
  if (!pid.ok()) return pid.status();
  std::unique_ptr<PrivateDaemon> daemon(new PrivateDaemon(*std::move(folder), *pid));
  const absl::Status ready = daemon->AwaitModel(options);
  if (!ready.ok()) return ready;
  return daemon;
}

PrivateDaemon::PrivateDaemon(PrivateFolder folder, pid_t pid)
    : folder_(std::move(folder)), pid_(pid) {}

PrivateDaemon::~PrivateDaemon() {
  client_.reset();
  if (!HasEnded()) kill(pid_, SIGTERM);
  const absl::Time until = absl::Now() + kEndLimit;
  while (!HasEnded() && absl::Now() < until) absl::SleepFor(kLook);
  if (HasEnded()) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, &wait_status_, 0) < 0 && errno == EINTR) {
  }
}

std::string PrivateDaemon::address() const { return PrivateAddress(folder_.path()); }

absl::Status PrivateDaemon::AwaitModel(const PrivateDaemonOptions& options) {
  const absl::Time until = absl::Now() + options.start_limit;
  while (!AllServe(model_)) {
    if (options.stop()) return absl::CancelledError("it was told to stop");
    if (absl::Now() > until) {
      return absl::DeadlineExceededError(
          absl::StrCat("it is not ready after ", absl::FormatDuration(options.start_limit),
                       model_.state.empty() ? "" : ": ", model_.state));
    }
    if (const absl::Status status = LookAt(options.model); !status.ok()) return status;
    if (!AllServe(model_)) absl::SleepFor(kLook);
  }
  return absl::OkStatus();
}

absl::Status PrivateDaemon::LookAt(const std::string& model) {
  if (HasEnded()) {
    const int code = WIFEXITED(wait_status_) ? WEXITSTATUS(wait_status_) : 128;
    return absl::FailedPreconditionError(
        absl::StrCat("the daemon ended with ", code, ": ", LastWords()));
  }
  if (client_ == nullptr) {
    auto client = client::Client::Connect(address(), absl::Now() + kConnectLimit);
    if (!client.ok()) return absl::OkStatus();  // it does not listen yet
    client_ = *std::move(client);
  }
  auto status = client_->GetDaemonStatus(absl::Now() + kCallLimit);
  if (!status.ok()) return absl::OkStatus();  // the next look tells more
  for (client::ModelStatus& seen : status->models) {
    if (seen.name == model) model_ = std::move(seen);
  }
  const std::string fault = StartFault(model_);
  return fault.empty() ? absl::OkStatus() : absl::FailedPreconditionError(fault);
}

bool PrivateDaemon::HasEnded() {
  if (pid_ != 0 && waitpid(pid_, &wait_status_, WNOHANG) == pid_) pid_ = 0;
  return pid_ == 0;
}

std::string PrivateDaemon::LastWords() const {
  return WordsOf(LastLine(ReadWholeFile(folder_.path() + "/log", kMostLogBytes).value_or("")));
}

}  // namespace mpsd::tune
