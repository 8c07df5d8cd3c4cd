#include "server/telemetry/log/log_file.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"

namespace mpsd {
namespace {

constexpr int kSlowReaderMs = 100;

// A pipe without a reader is an error at once: a wait for one would heed no signal.
int OpenFile(const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0640);
  if (fd >= 0) fcntl(fd, F_SETFL, O_APPEND);
  return fd;
}

absl::StatusOr<UniqueFd> OpenPath(const std::string& path) {
  UniqueFd fd(path.empty() ? fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3) : OpenFile(path));
  if (fd.valid()) return fd;
  return absl::UnavailableError(
      absl::StrCat("cannot open ", path.empty() ? "stderr" : path, ": ", std::strerror(errno)));
}

bool WaitWritable(int fd, int timeout_ms) {
  pollfd poll_fd{.fd = fd, .events = POLLOUT, .revents = 0};
  return poll(&poll_fd, 1, timeout_ms) == 1 && (poll_fd.revents & POLLOUT) != 0;
}

}  // namespace

absl::StatusOr<std::unique_ptr<LogFile>> LogFile::Open(std::string path) {
  absl::StatusOr<UniqueFd> fd = OpenPath(path);
  if (!fd.ok()) return fd.status();
  return std::unique_ptr<LogFile>(new LogFile(std::move(path), *std::move(fd)));
}

absl::Status LogFile::Reopen() {
  if (path_.empty()) return absl::OkStatus();
  absl::StatusOr<UniqueFd> fd = OpenPath(path_);
  if (!fd.ok()) return fd.status();
  absl::MutexLock lock(&mu_);
  fd_ = *std::move(fd);
  slow_ = cut_line_ = false;
  return absl::OkStatus();
}

bool LogFile::Write(std::string_view line) {
  std::string bytes;
  bytes.reserve(line.size() + 2);
  absl::MutexLock lock(&mu_);
  if (cut_line_) bytes += '\n';
  bytes += line;
  bytes += '\n';
  return WriteAll(bytes);
}

bool LogFile::IsTerminal() const {
  absl::MutexLock lock(&mu_);
  return isatty(fd_.get()) == 1;
}

// A writable pipe takes PIPE_BUF bytes without blocking, so each step writes at most that.
bool LogFile::WriteAll(std::string_view bytes) {
  MPSD_CHECK(fd_.valid());
  const size_t whole = bytes.size();
  while (!bytes.empty()) {
    const bool writable = WaitWritable(fd_.get(), slow_ ? 0 : kSlowReaderMs);
    slow_ = !writable;
    const ssize_t written =
        writable ? write(fd_.get(), bytes.data(), std::min<size_t>(bytes.size(), PIPE_BUF)) : -1;
    if (writable && written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  if (bytes.empty()) {
    cut_line_ = false;
  } else if (bytes.size() < whole) {
    cut_line_ = true;
  }
  return bytes.empty();
}

}  // namespace mpsd
