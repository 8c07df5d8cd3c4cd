#include "server/operate/handover/handover.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "proto/base/limits.h"
#include "proto/base/platform.h"

extern char** environ;

namespace mpsd {
namespace {

constexpr char kVariable[] = "MPSD_HANDOVER";
constexpr absl::string_view kFirst = "first";
constexpr absl::string_view kSecond = "second";  // a child of the first, which has ended
constexpr int kChannel = 3;                      // SpawnOptions::control_fd
constexpr size_t kMostMessageBytes = 64 << 10;
constexpr size_t kMostLineBytes = 4096;
constexpr size_t kMostNameBytes = 4096;  // for names: nobody reads the message yet
// Words of the new daemon.
constexpr absl::string_view kPid = "pid ";
constexpr absl::string_view kReady = "ready";
constexpr absl::string_view kEnded = "ended ";

// Lines: the folder of the workers, then "asked<TAB>bound<TAB>family" by socket, then the models
// that are not ready, as far as there is room. Descriptors: the lock, then the sockets.
std::string MessageOf(const std::vector<HandedSocket>& sockets, const std::string& worker_folder,
                      const std::vector<std::string>& unready_models) {
  std::string message = absl::StrCat(worker_folder, "\n");
  for (const HandedSocket& socket : sockets) {
    absl::StrAppend(&message, socket.asked, "\t", socket.bound, "\t", socket.family, "\n");
  }
  size_t room = kMostNameBytes;
  for (const std::string& model : unready_models) {
    if (model.size() >= room) break;
    room -= model.size() + 1;
    absl::StrAppend(&message, model, "\n");
  }
  return message;
}

// An upgrade has put another program in the running one's place.
absl::StatusOr<std::string> ProgramNow() {
  absl::StatusOr<std::string> path = platform::ExecutablePath();
  if (path.ok()) *path = std::string(absl::StripSuffix(*path, " (deleted)"));
  return path;
}

// `step` is the variable's value.
absl::StatusOr<pid_t> SpawnDaemon(const std::vector<std::string>& arguments, UniqueFd channel,
                                  absl::string_view step) {
  absl::StatusOr<std::string> program = ProgramNow();
  if (!program.ok()) return program.status();
  platform::SpawnOptions spawn;
  spawn.path = *std::move(program);
  spawn.arguments = arguments;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    spawn.environment.emplace_back(*variable);
  }
  spawn.environment.push_back(absl::StrCat(kVariable, "=", step));
  spawn.control_fd = std::move(channel);
  spawn.output_fd.Reset(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, kChannel + 1));
  return platform::Spawn(std::move(spawn));
}

absl::Status Malformed() { return absl::InvalidArgumentError("the handover cannot be read"); }

}  // namespace

absl::StatusOr<std::unique_ptr<Successor>> Successor::Start(
    const std::vector<std::string>& arguments, int lock_fd,
    const std::vector<HandedSocket>& sockets, const std::string& worker_folder,
    const std::vector<std::string>& unready_models, int64_t now_ns) {
  if (sockets.size() + 1 > kMaxMessageFds) {
    return absl::ResourceExhaustedError("there are too many listening sockets to hand over");
  }
  auto channel = platform::SocketPair();
  if (!channel.ok()) return channel.status();
  std::vector<int> fds = {lock_fd};
  for (const HandedSocket& socket : sockets) fds.push_back(socket.fd);
  const std::string message = MessageOf(sockets, worker_folder, unready_models);
  // The message waits in the socket.
  const absl::Status sent = platform::SendWithFds(channel->first.get(), message, fds);
  if (!sent.ok()) return sent;
  const absl::StatusOr<pid_t> pid = SpawnDaemon(arguments, std::move(channel->second), kFirst);
  if (!pid.ok()) return pid.status();
  fcntl(channel->first.get(), F_SETFL, O_NONBLOCK);
  return std::unique_ptr<Successor>(new Successor(*pid, std::move(channel->first), now_ns));
}

Successor::~Successor() {
  if (state_ < State::kReady) Fail("");
}

void Successor::ReapChild() {
  while (child_ > 0 && waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
  child_ = 0;
}

Successor::State Successor::Fail(std::string reason) {
  for (const pid_t pid : {child_, pid_}) {
    if (pid > 0) kill(pid, SIGKILL);
  }
  ReapChild();
  state_ = State::kFailed;
  reason_ = std::move(reason);
  return state_;
}

bool Successor::Receive() {
  char bytes[512];
  for (;;) {
    const ssize_t got = read(channel_.get(), bytes, sizeof(bytes));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN;
    if (got == 0 || unread_.size() > kMostLineBytes) return false;
    unread_.append(bytes, static_cast<size_t>(got));
    for (size_t end = unread_.find('\n'); end != std::string::npos; end = unread_.find('\n')) {
      Take(absl::string_view(unread_).substr(0, end));
      unread_.erase(0, end + 1);
    }
  }
}

void Successor::Take(absl::string_view line) {
  if (absl::ConsumePrefix(&line, kPid) && absl::SimpleAtoi(line, &pid_)) {
    state_ = State::kStarting;
    if (pid_ != child_) ReapChild();  // it has ended, or is about to
  } else if (line == kReady && state_ == State::kStarting) {
    state_ = State::kReady;
  } else if (absl::ConsumePrefix(&line, kEnded)) {
    reason_ = std::string(line);
  }
}

Successor::State Successor::Look(int64_t now_ns) {
  if (state_ >= State::kReady) return state_;
  const bool is_there = Receive();
  if (state_ == State::kReady) return state_;
  if (!is_there) {
    if (child_ == 0) pid_ = 0;  // it has ended: another process may get its number
    return Fail(reason_.empty() ? "the new daemon ended before it was ready; its log says why"
                                : absl::StrCat("the new daemon ended: ", reason_));
  }
  if (now_ns < until_ns_) return state_;
  return Fail("the new daemon was not ready in time");
}

absl::StatusOr<std::optional<Predecessor>> Predecessor::FromEnvironment() {
  const char* const step = getenv(kVariable);
  if (step == nullptr) return std::nullopt;
  const bool is_first = step == kFirst;
  unsetenv(kVariable);  // workers are no successors
  Predecessor predecessor;
  predecessor.channel_.Reset(kChannel);
  fcntl(kChannel, F_SETFD, FD_CLOEXEC);
  if (is_first && getenv("NOTIFY_SOCKET") != nullptr) {
    const absl::StatusOr<pid_t> second =
        SpawnDaemon(platform::Arguments(), std::move(predecessor.channel_), kSecond);
    if (!second.ok()) return second.status();
    _exit(0);
  }
  if (absl::Status told = predecessor.Tell(absl::StrCat(kPid, getpid())); !told.ok()) return told;
  std::vector<UniqueFd> fds;
  std::string message(kMostMessageBytes, '\0');
  const absl::StatusOr<size_t> got =
      platform::ReceiveWithFds(kChannel, absl::MakeSpan(message), &fds);
  if (!got.ok()) return got.status();
  message.resize(*got);
  const std::vector<std::string> lines = absl::StrSplit(absl::StripSuffix(message, "\n"), '\n');
  if (lines.size() < fds.size() || fds.empty()) return Malformed();
  predecessor.worker_folder_ = lines[0];
  predecessor.lock_ = std::move(fds[0]);
  predecessor.sockets_ = std::make_shared<InheritedSockets>();
  for (size_t i = 1; i < fds.size(); ++i) {
    const std::vector<std::string> parts = absl::StrSplit(lines[i], '\t');
    ListeningSocket socket;
    if (parts.size() != 3 || !absl::SimpleAtoi(parts[2], &socket.family)) return Malformed();
    socket.address = parts[1];
    socket.fd = std::move(fds[i]);
    predecessor.sockets_->Add(parts[0], std::move(socket));
  }
  predecessor.unready_models_.assign(lines.begin() + static_cast<std::ptrdiff_t>(fds.size()),
                                     lines.end());
  return std::optional<Predecessor>(std::move(predecessor));
}

absl::Status Predecessor::Tell(absl::string_view line) const {
  return platform::SendWithFds(channel_.get(), absl::StrCat(line, "\n"), {});
}

void Predecessor::TellEnd(absl::string_view reason) const {
  const std::string line =
      absl::StrReplaceAll(reason.substr(0, kMostLineBytes / 2), {{"\n", "; "}});
  Tell(absl::StrCat(kEnded, line)).IgnoreError();
}

bool Predecessor::IsThere() const {
  char byte = 0;
  return recv(channel_.get(), &byte, 1, MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EINTR);
}

}  // namespace mpsd
