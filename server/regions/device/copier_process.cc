#include "server/regions/device/copier_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/algorithm/container.h"
#include "proto/base/check.h"
#include "proto/base/clock.h"

namespace mpsd {
namespace {

void Unmap(const platform::SharedMemory& memory) {
  if (memory.data != nullptr) platform::UnmapSharedMemory(memory.data, memory.bytes);
}

}  // namespace

std::vector<uint64_t> CopierWaiter::Wait(int64_t timeout_ns) {
  const std::vector<uint64_t> tokens = poller.Wait(timeout_ns);
  if (absl::c_linear_search(tokens, kBell)) platform::ClearBell(bell.poll_fd.get());
  return tokens;
}

absl::StatusOr<std::unique_ptr<CopierProcess>> CopierProcess::Spawn(
    const CopierProcessOptions& options, CopierWaiter* waiter) {
  std::unique_ptr<CopierProcess> process(new CopierProcess(waiter));
  auto ours =
      platform::CreateSharedMemory(kCopierSegmentBytes, platform::SharedMemoryWriter::kCreator);
  if (!ours.ok()) return ours.status();
  process->ours_ = *std::move(ours);
  auto theirs =
      platform::CreateSharedMemory(kCopierSegmentBytes, platform::SharedMemoryWriter::kPeer);
  if (!theirs.ok()) return theirs.status();
  process->theirs_ = *std::move(theirs);
  auto sockets = platform::SocketPair();
  if (!sockets.ok()) return sockets.status();
  process->socket_ = std::move(sockets->first);
  fcntl(process->socket_.get(), F_SETFL, O_NONBLOCK);

  platform::SpawnOptions spawn;
  spawn.path = options.binary;
  spawn.environment = options.environment;
  spawn.control_fd = std::move(sockets->second);
  // The process reports everything in records.
  spawn.output_fd = UniqueFd(open("/dev/null", O_WRONLY | O_CLOEXEC));
  const absl::StatusOr<pid_t> pid = platform::Spawn(std::move(spawn));
  if (!pid.ok()) return pid.status();
  process->pid_ = *pid;
  process->gone_ = false;
  absl::StatusOr<UniqueFd> exit = waiter->poller.AddExit(*pid, CopierWaiter::kExit);
  absl::Status status = exit.status();
  if (status.ok()) {
    status = waiter->poller.AddReadable(process->socket_.get(), CopierWaiter::kSocket);
  }
  if (status.ok()) {
    process->exit_ = *std::move(exit);
    return process;
  }
  process->Kill();
  waitpid(*pid, nullptr, 0);  // it has not used any device yet
  process->gone_ = true;
  return status;
}

CopierProcess::~CopierProcess() {
  MPSD_CHECK(gone_);
  if (socket_.valid()) waiter_->poller.RemoveReadable(socket_.get());
  if (exit_.valid()) waiter_->poller.RemoveReadable(exit_.get());
  Unmap(ours_);
  Unmap(theirs_);
}

absl::Span<const char> CopierProcess::read_bytes() const {
  return absl::MakeConstSpan(static_cast<const char*>(theirs_.data), theirs_.bytes);
}

absl::Span<char> CopierProcess::bytes_to_write() const {
  return absl::MakeSpan(static_cast<char*>(ours_.data), ours_.bytes);
}

absl::StatusOr<CopyOutcome> CopierProcess::Do(CopyOrder order, int64_t timeout_ns) {
  order.number = ++orders_;
  if (absl::Status status = Send(order); !status.ok()) return status;
  absl::StatusOr<CopyOutcome> outcome = Receive(Clock::Real()->NowNs() + timeout_ns);
  if (!outcome.ok()) return outcome;
  if (outcome->number != order.number || static_cast<uint32_t>(outcome->result) >= kCopyResults) {
    return absl::InternalError("it answers what was not asked");
  }
  return outcome;
}

// Only one order is out at a time, so the socket has room.
absl::Status CopierProcess::Send(const CopyOrder& order) {
  char bytes[sizeof(order)];
  std::memcpy(bytes, &order, sizeof(bytes));
  const int segments[] = {ours_.readonly_fd.get(), theirs_.writable_fd.get()};
  const bool start = order.verb == CopyVerb::kStart;
  const absl::StatusOr<size_t> sent = platform::SendSomeWithFds(
      socket_.get(), bytes, start ? absl::MakeConstSpan(segments) : absl::Span<const int>());
  if (!sent.ok()) return absl::UnavailableError("it has ended");
  return *sent == sizeof(bytes) ? absl::OkStatus() : absl::InternalError("it reads nothing");
}

absl::Status CopierProcess::WaitForAnswer(int64_t until_ns) {
  for (;;) {
    const int64_t left_ns = until_ns - Clock::Real()->NowNs();
    if (left_ns <= 0) return absl::DeadlineExceededError("it does not answer");
    const std::vector<uint64_t>& tokens = waiter_->Wait(left_ns);
    if (waiter_->stopping) return absl::CancelledError("nobody waits for it any more");
    if (absl::c_linear_search(tokens, CopierWaiter::kSocket)) return absl::OkStatus();
    if (absl::c_linear_search(tokens, CopierWaiter::kExit)) {
      return absl::UnavailableError("it has ended");
    }
  }
}

absl::StatusOr<CopyOutcome> CopierProcess::Receive(int64_t until_ns) {
  char bytes[sizeof(CopyOutcome)];
  size_t have = 0;
  std::vector<UniqueFd> fds;  // any that come are closed
  while (have < sizeof(bytes)) {
    if (absl::Status status = WaitForAnswer(until_ns); !status.ok()) return status;
    const absl::StatusOr<size_t> got =
        platform::ReceiveWithFds(socket_.get(), absl::MakeSpan(bytes).subspan(have), &fds);
    if (absl::IsOutOfRange(got.status())) continue;
    if (!got.ok() || *got == 0) return absl::UnavailableError("it has ended");
    have += *got;
  }
  CopyOutcome outcome;
  std::memcpy(&outcome, bytes, sizeof(bytes));
  return outcome;
}

bool CopierProcess::HasEnded() const {
  siginfo_t info{};
  const int result = waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  return result == 0 && info.si_pid == pid_;
}

void CopierProcess::Kill() {
  if (!gone_) kill(pid_, SIGKILL);
}

bool CopierProcess::WaitUntilGone(int64_t timeout_ns) {
  const int64_t until_ns = Clock::Real()->NowNs() + timeout_ns;
  // Its end of file would be reported over and over.
  if (socket_.valid()) {
    waiter_->poller.RemoveReadable(socket_.get());
    socket_.Reset();
  }
  while (!gone_) {
    const pid_t reaped = waitpid(pid_, nullptr, WNOHANG);
    gone_ = reaped == pid_ || (reaped < 0 && errno == ECHILD);
    const int64_t left_ns = until_ns - Clock::Real()->NowNs();
    if (gone_ || left_ns <= 0) break;
    waiter_->Wait(std::min(left_ns, 10 * kNsPerMs));
  }
  return gone_;
}

}  // namespace mpsd
