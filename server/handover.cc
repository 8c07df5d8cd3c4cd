#include "server/handover.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "proto/base/limits.h"
#include "proto/base/platform.h"

extern char** environ;

namespace mpsd {
namespace {

constexpr char kVariable[] = "MPSD_HANDOVER";
constexpr int kChannel = 3;  // SpawnOptions::control_fd
constexpr size_t kMostMessageBytes = 64 << 10;
constexpr char kReadyByte = 'r';

// The message's lines: the folder of the workers, then "asked<TAB>bound<TAB>family" by socket.
// Its descriptors: the lock, then the sockets.
std::string MessageOf(const std::vector<HandedSocket>& sockets, const std::string& worker_folder) {
  std::string message = absl::StrCat(worker_folder, "\n");
  for (const HandedSocket& socket : sockets) {
    absl::StrAppend(&message, socket.asked, "\t", socket.bound, "\t", socket.family, "\n");
  }
  return message;
}

// A package's upgrade has removed the program that runs, and put the new one in its place.
absl::StatusOr<std::string> ProgramNow() {
  absl::StatusOr<std::string> path = platform::ExecutablePath();
  if (path.ok()) *path = std::string(absl::StripSuffix(*path, " (deleted)"));
  return path;
}

std::vector<std::string> EnvironmentWithHandover() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) variables.push_back(*variable);
  variables.push_back(absl::StrCat(kVariable, "=", kChannel));
  return variables;
}

absl::Status Malformed() { return absl::InvalidArgumentError("the handover cannot be read"); }

}  // namespace

absl::StatusOr<std::unique_ptr<Successor>> Successor::Start(
    const std::vector<std::string>& arguments, int lock_fd,
    const std::vector<HandedSocket>& sockets, const std::string& worker_folder, int64_t now_ns) {
  if (sockets.size() + 1 > kMaxMessageFds) {
    return absl::ResourceExhaustedError("there are too many listening sockets to hand over");
  }
  auto channel = platform::SocketPair();
  if (!channel.ok()) return channel.status();
  absl::StatusOr<std::string> program = ProgramNow();
  if (!program.ok()) return program.status();
  std::vector<int> fds = {lock_fd};
  for (const HandedSocket& socket : sockets) fds.push_back(socket.fd);
  const std::string message = MessageOf(sockets, worker_folder);
  // The message waits in the socket, so nobody waits for the new daemon.
  const absl::Status sent = platform::SendWithFds(channel->first.get(), message, fds);
  if (!sent.ok()) return sent;
  platform::SpawnOptions spawn;
  spawn.path = *std::move(program);
  spawn.arguments = arguments;
  spawn.environment = EnvironmentWithHandover();
  spawn.control_fd = std::move(channel->second);
  spawn.output_fd.Reset(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, kChannel + 1));
  const absl::StatusOr<pid_t> pid = platform::Spawn(std::move(spawn));
  if (!pid.ok()) return pid.status();
  fcntl(channel->first.get(), F_SETFL, O_NONBLOCK);
  return std::unique_ptr<Successor>(new Successor(*pid, std::move(channel->first), now_ns));
}

Successor::~Successor() {
  if (state_ == State::kStarting) Fail("");
}

Successor::State Successor::Fail(std::string reason) {
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  state_ = State::kFailed;
  reason_ = std::move(reason);
  return state_;
}

Successor::State Successor::Look(int64_t now_ns) {
  if (state_ != State::kStarting) return state_;
  char byte = 0;
  const ssize_t got = read(channel_.get(), &byte, 1);
  if (got == 1 && byte == kReadyByte) return state_ = State::kReady;
  const bool waits = got < 0 && (errno == EAGAIN || errno == EINTR);
  if (!waits) return Fail("the new daemon ended before it was ready; its log says why");
  if (now_ns < until_ns_) return state_;
  return Fail("the new daemon was not ready in time");
}

absl::StatusOr<std::optional<Predecessor>> Predecessor::FromEnvironment() {
  if (getenv(kVariable) == nullptr) return std::nullopt;
  unsetenv(kVariable);  // workers are no successors
  Predecessor predecessor;
  predecessor.channel_.Reset(kChannel);
  fcntl(kChannel, F_SETFD, FD_CLOEXEC);
  std::vector<UniqueFd> fds;
  std::string message(kMostMessageBytes, '\0');
  const absl::StatusOr<size_t> got =
      platform::ReceiveWithFds(kChannel, absl::MakeSpan(message), &fds);
  if (!got.ok()) return got.status();
  message.resize(*got);
  const std::vector<std::string> lines = absl::StrSplit(absl::StripSuffix(message, "\n"), '\n');
  if (lines.size() != fds.size() || fds.empty()) return Malformed();
  predecessor.worker_folder_ = lines[0];
  predecessor.lock_ = std::move(fds[0]);
  predecessor.sockets_ = std::make_shared<InheritedSockets>();
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> parts = absl::StrSplit(lines[i], '\t');
    ListeningSocket socket;
    if (parts.size() != 3 || !absl::SimpleAtoi(parts[2], &socket.family)) return Malformed();
    socket.address = parts[1];
    socket.fd = std::move(fds[i]);
    predecessor.sockets_->Add(parts[0], std::move(socket));
  }
  return std::optional<Predecessor>(std::move(predecessor));
}

absl::Status Predecessor::TellReady() const {
  if (write(channel_.get(), &kReadyByte, 1) == 1) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, "the old daemon cannot be told");
}

}  // namespace mpsd
