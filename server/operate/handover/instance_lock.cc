#include "server/operate/handover/instance_lock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "proto/files/private_folder.h"

namespace mpsd {
namespace {

// Makes the last part a name.
std::string WithoutLastSlash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

absl::Status Named(absl::string_view what, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(what, ": ", status.message()));
}

std::string PathIn(const std::string& folder) { return folder + "/mpsd.lock"; }

// One with a second name may be another program's.
bool IsOwnFile(int fd) {
  struct stat status {};
  return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
         status.st_nlink == 1;
}

// The number and the version are two lines of the file.
InstanceLock::Holder HolderIn(int fd) {
  char text[128] = {};
  [[maybe_unused]] const ssize_t got = pread(fd, text, sizeof(text) - 1, 0);
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  InstanceLock::Holder holder;
  if (!absl::SimpleAtoi(lines[0], &holder.pid)) holder.pid = 0;
  if (lines.size() > 1) holder.version = lines[1];
  return holder;
}

}  // namespace

absl::StatusOr<InstanceLock> InstanceLock::Take(const std::string& state_dir) {
  const std::filesystem::path folder = WithoutLastSlash(state_dir);
  std::error_code error;
  std::filesystem::create_directories(folder.parent_path(), error);
  if (absl::Status status = MakePrivateFolder(folder); !status.ok()) {
    return Named("state_dir", status);
  }
  const std::string path = PathIn(folder);
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.valid() && errno == ELOOP) {
    return absl::FailedPreconditionError(absl::StrCat(path, " is a link; remove it"));
  }
  if (!fd.valid()) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  if (!IsOwnFile(fd.get())) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " is not a file of this user's alone; remove it"));
  }
  if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    return absl::AlreadyExistsError(
        absl::StrCat("mpsd runs already: process ", HolderIn(fd.get()).pid, " holds ", path,
                     "; end it, or give this one a state_dir of its own"));
  }
  InstanceLock lock(std::move(fd));
  if (absl::Status named = lock.NameHolder(); !named.ok()) return Named(path, named);
  return lock;
}

absl::Status InstanceLock::NameHolder() const {
  const std::string text = absl::StrCat(getpid(), "\n", MPSD_VERSION, "\n");
  if (ftruncate(fd_.get(), 0) == 0 &&
      pwrite(fd_.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size())) {
    return absl::OkStatus();
  }
  return absl::ErrnoToStatus(errno, "cannot write the lock");
}

absl::StatusOr<InstanceLock::Holder> InstanceLock::HolderOf(const std::string& state_dir) {
  const std::string path = PathIn(state_dir);
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid() && errno != ENOENT) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  }
  const Holder holder = fd.valid() ? HolderIn(fd.get()) : Holder();
  // Tried only for a living process: a starting daemon might find the lock taken.
  const bool lives = holder.pid > 0 && (kill(holder.pid, 0) == 0 || errno == EPERM);
  if (lives && flock(fd.get(), LOCK_SH | LOCK_NB) != 0) return holder;
  return absl::NotFoundError(absl::StrCat("no daemon holds ", path));
}

}  // namespace mpsd
