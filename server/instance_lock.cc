#include "server/instance_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
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

// A file with a second name may be another program's.
bool IsOwnFile(int fd) {
  struct stat status {};
  return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
         status.st_nlink == 1;
}

}  // namespace

absl::StatusOr<InstanceLock> InstanceLock::Take(const std::string& state_dir) {
  const std::filesystem::path folder = WithoutLastSlash(state_dir);
  std::error_code error;
  std::filesystem::create_directories(folder.parent_path(), error);
  if (absl::Status status = MakePrivateFolder(folder); !status.ok()) {
    return Named("state_dir", status);
  }
  const std::string path = folder / "mpsd.lock";
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
    char pid[32] = {};
    [[maybe_unused]] const ssize_t got = pread(fd.get(), pid, sizeof(pid) - 1, 0);
    return absl::AlreadyExistsError(
        absl::StrCat("mpsd runs already: process ", absl::StripSuffix(pid, "\n"), " holds ", path,
                     "; end it, or give this one a state_dir of its own"));
  }
  InstanceLock lock(std::move(fd));
  if (absl::Status named = lock.NameHolder(); !named.ok()) return Named(path, named);
  return lock;
}

absl::Status InstanceLock::NameHolder() const {
  const std::string pid = absl::StrCat(getpid(), "\n");
  if (ftruncate(fd_.get(), 0) == 0 &&
      pwrite(fd_.get(), pid.data(), pid.size(), 0) == static_cast<ssize_t>(pid.size())) {
    return absl::OkStatus();
  }
  return absl::ErrnoToStatus(errno, "cannot write the lock");
}

}  // namespace mpsd
